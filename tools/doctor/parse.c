/* SPDX-License-Identifier: MIT */
/* Parsers of text files; see parse.h. */
#include "parse.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PCI_BARS 6

static bool blank(char c)
{
	return c == ' ' || c == '\t';
}

static const char *skip_blanks(const char *p)
{
	while (blank(*p))
		p++;
	return p;
}

/* After the next newline; NULL at the end. */
static const char *next_line(const char *p)
{
	p = strchr(p, '\n');
	return p && p[1] ? p + 1 : NULL;
}

static void copy(char *buf, size_t len, const char *from, size_t n)
{
	if (n >= len)
		n = len - 1;
	memcpy(buf, from, n);
	buf[n] = '\0';
}

/* Digits of base 10 or 16 that fit in 32 bits; the place after them, or NULL. */
static const char *digits(const char *p, int base, unsigned *out)
{
	unsigned long v;
	char *end;

	if (base == 16 ? !isxdigit((unsigned char)*p) : !isdigit((unsigned char)*p))
		return NULL;
	if (base == 16 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
		return NULL;
	errno = 0;
	v = strtoul(p, &end, base);
	if (errno || v > UINT32_MAX)
		return NULL;
	*out = (unsigned)v;
	return end;
}

bool parse_version(const char *text, char *buf, size_t len, unsigned *major)
{
	size_t n = strspn(text, "0123456789.");
	unsigned m;

	if (!digits(text, 10, &m) || !memchr(text, '.', n))
		return false;
	copy(buf, len, text, n);
	*major = m;
	return true;
}

/* The version is the first word behind "Kernel Module" that starts like one. */
bool parse_driver(const char *text, struct parse_driver *out)
{
	static const char mark[] = "Kernel Module";
	struct parse_driver d = { 0 };
	char line[256];
	const char *p;

	copy(line, sizeof(line), text, strcspn(text, "\n"));
	p = strstr(line, mark);
	if (strncmp(line, "NVRM version:", 13) || !p)
		return false;
	d.open = strstr(line, "Open Kernel Module") != NULL;
	for (p += strlen(mark); *p; p++) {
		if (blank(p[-1]) && isdigit((unsigned char)*p) &&
		    parse_version(p, d.version, sizeof(d.version), &d.major)) {
			*out = d;
			return true;
		}
	}
	return false;
}

bool parse_number(const char *text, long long *out)
{
	long long v;
	char *end;

	text = skip_blanks(text);
	if (!isdigit((unsigned char)*text) &&
	    !(*text == '-' && isdigit((unsigned char)text[1])))
		return false;
	errno = 0;
	v = strtoll(text, &end, 0);
	if (errno || (*end && !isspace((unsigned char)*end)))
		return false;
	*out = v;
	return true;
}

/* The number of a line "NUMBER NAME". */
static bool numbered(const char *line, const char *name, unsigned *out)
{
	size_t len = strlen(name);
	const char *end;
	unsigned v;

	end = digits(skip_blanks(line), 10, &v);
	if (!end || *end != ' ' || strncmp(end + 1, name, len) ||
	    (end[1 + len] && end[1 + len] != '\n'))
		return false;
	*out = v;
	return true;
}

bool parse_major(const char *text, const char *name, unsigned *out)
{
	bool chars = false;
	const char *p;

	for (p = text; p; p = next_line(p)) {
		if (!strncmp(p, "Character devices:", 18))
			chars = true;
		else if (!strncmp(p, "Block devices:", 14))
			chars = false;
		if (chars && numbered(p, name, out))
			return true;
	}
	return false;
}

bool parse_misc(const char *text, const char *name, unsigned *out)
{
	const char *p;

	for (p = text; p; p = next_line(p))
		if (numbered(p, name, out))
			return true;
	return false;
}

bool parse_module(const char *text, const char *name)
{
	size_t len = strlen(name);
	const char *p;

	for (p = text; p; p = next_line(p))
		if (!strncmp(p, name, len) && p[len] == ' ')
			return true;
	return false;
}

bool parse_key(const char *text, const char *key, char *buf, size_t len)
{
	size_t n = strlen(key);
	const char *p, *v;

	for (p = text; p; p = next_line(p)) {
		if (strncmp(p, key, n))
			continue;
		v = skip_blanks(p + n);
		if (*v != ':')
			continue;
		v = skip_blanks(v + 1);
		n = strcspn(v, "\n");
		while (n && (blank(v[n - 1]) || v[n - 1] == '\r'))
			n--;
		copy(buf, len, v, n);
		return true;
	}
	return false;
}

bool parse_word(const char *text, const char *word, char *buf, size_t len)
{
	size_t n = strlen(word), w;
	const char *p = text;

	while (*p) {
		p += strspn(p, " \t\n");
		w = strcspn(p, " \t\n");
		if (w >= n && !strncmp(p, word, n) && (w == n || word[n - 1] == '=')) {
			copy(buf, len, p, w);
			return true;
		}
		p += w;
	}
	return false;
}

/* A 64-bit BAR leaves the line behind it empty. */
bool parse_resource(const char *text, unsigned bar, uint64_t *size)
{
	unsigned long long start, end;
	const char *p = text;
	char *stop;
	unsigned i;

	for (i = 0; i < PCI_BARS && p; i++, p = next_line(p)) {
		if (strncmp(p, "0x", 2))
			return false;
		errno = 0;
		start = strtoull(p, &stop, 16);
		if (errno || strncmp(stop, " 0x", 3))
			return false;
		end = strtoull(stop, &stop, 16);
		if (errno || *stop != ' ' || end < start)
			return false;
		if (!end || bar-- > 0)  /* an empty one does not count */
			continue;
		*size = end - start + 1;
		return true;
	}
	return false;
}

bool parse_speed(const char *text, unsigned *tenths)
{
	unsigned whole, tenth = 0;
	const char *p = digits(text, 10, &whole);

	if (!p || whole > 10000)
		return false;
	if (*p == '.') {
		if (!isdigit((unsigned char)p[1]))
			return false;
		tenth = (unsigned)(p[1] - '0');
		for (p++; isdigit((unsigned char)*p); p++)
			;
	}
	if (strncmp(skip_blanks(p), "GT/s", 4))
		return false;
	*tenths = whole * 10 + tenth;
	return true;
}

unsigned parse_generation(unsigned tenths)
{
	static const unsigned rates[] = { 25, 50, 80, 160, 320, 640 };
	unsigned i;

	for (i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
		if (tenths == rates[i])
			return i + 1;
	return 0;
}

bool parse_pci(const char *text, struct parse_pci *out)
{
	struct parse_pci a;
	const char *p = digits(text, 16, &a.domain);

	if (!p || *p != ':')
		return false;
	p = digits(p + 1, 16, &a.bus);
	if (!p || *p != ':')
		return false;
	p = digits(p + 1, 16, &a.slot);
	if (!p || *p != '.' || a.bus > 0xff || a.slot > 0x1f)
		return false;
	*out = a;
	return true;
}

bool parse_list(const char *text, struct parse_list *out)
{
	struct parse_list l = { { 0 } };
	const char *p = skip_blanks(text);
	unsigned first, last, i;

	for (;;) {
		p = digits(p, 10, &first);
		if (!p)
			return false;
		last = first;
		if (*p == '-') {
			p = digits(p + 1, 10, &last);
			if (!p || last < first)
				return false;
		}
		for (i = first; i <= last && i < PARSE_LIST_MAX; i++)
			l.bits[i / 64] |= 1ULL << (i % 64);
		if (*p != ',')
			break;
		p++;
	}
	if (*p && !isspace((unsigned char)*p))
		return false;
	*out = l;
	return true;
}

bool parse_list_overlap(const struct parse_list *a, const struct parse_list *b)
{
	size_t i;

	for (i = 0; i < sizeof(a->bits) / sizeof(a->bits[0]); i++)
		if (a->bits[i] & b->bits[i])
			return true;
	return false;
}

bool parse_node(const char *text, struct parse_node *out)
{
	struct parse_node n;
	int used = 0;

	if (sscanf(text, "%c %9u:%9u %5o%n", &n.kind, &n.major, &n.minor, &n.mode, &used) != 4 ||
	    !strchr("cb-", n.kind))
		return false;
	if (text[used] && !isspace((unsigned char)text[used]))
		return false;
	*out = n;
	return true;
}

void parse_clean(char *s)
{
	size_t n = 0;

	for (; s[n]; n++)
		if ((unsigned char)s[n] < ' ' || (unsigned char)s[n] > '~')
			s[n] = s[n] == '\n' || s[n] == '\t' ? ' ' : '?';
	while (n && s[n - 1] == ' ')
		s[--n] = '\0';
}
