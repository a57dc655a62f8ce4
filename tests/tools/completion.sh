#!/bin/sh
# SPDX-License-Identifier: MIT
# --completion: the shells take it, and what they then offer is what --help lists.
# shellcheck source=/dev/null
. "${SRC:?}/check.sh"
command -v bash >/dev/null || { echo 'no bash'; exit 77; }

# offer WORD...: what bash completes the last word to.
cat >"$OUT/offer" <<'END'
name=${1##*/}
source <("$1" --completion bash)
shift
COMP_WORDS=("$name" "$@")
COMP_CWORD=$#
"_$name"
printf '%s\n' "${COMPREPLY[@]}"
END

for tool in "${TOOLS:?}"/gdrcopy_*; do
	if ! [ -x "$tool" ] || ! [ -f "$tool" ]; then continue; fi
	name=${tool##*/}
	expect 0 "$tool" --completion bash
	silent
	said "^complete -o filenames -F _$name $name\$"
	"$tool" --help 2>/dev/null | sed -nE 's/^  (-(.), |    )--([a-z-]+).*/-\2 --\3/p' |
		tr ' ' '\n' | grep -v '^-$' | sort >"$OUT/help"
	[ "$(wc -l <"$OUT/help")" -gt 3 ] || fail "$name: no options in the help"
	expect 0 bash "$OUT/offer" "$tool" -
	sort "$OUT/stdout" >"$OUT/offered"
	diff -u "$OUT/help" "$OUT/offered" >"$OUT/stdout" || fail "$name offers something else"
	if command -v zsh >/dev/null; then
		expect 0 "$tool" --completion zsh
		cp "$OUT/stdout" "$OUT/_$name"
		expect 0 zsh -n "$OUT/_$name"
		# Each option once, as zsh splits the words.
		# shellcheck disable=SC2016
		expect 0 zsh -f -c '_arguments() { shift; printf "%s\n" "$@" }; . "$1"' zsh "$OUT/_$name"
		sed -E 's/^([*]|\([^)]*\))?(-?-[a-zA-Z-]+).*/\2/; s/-$//' "$OUT/stdout" |
			sed -E 's/^(-.)[+]$/\1/' | sort >"$OUT/offered"
		diff -u "$OUT/help" "$OUT/offered" >"$OUT/stdout" || fail "$name: zsh offers something else"
	fi
done

bw=$TOOLS/gdrcopy_copybw
expect 0 bash "$OUT/offer" "$bw" -a ''
[ "$(xargs <"$OUT/stdout")" = 'cuMemAlloc cuMemCreate' ] || fail 'choices of -a'
expect 0 bash "$OUT/offer" "$bw" --mapping wc
[ "$(cat "$OUT/stdout")" = wc ] || fail 'choices of --mapping'
expect 0 bash "$OUT/offer" "$bw" --size ''
[ -z "$(cat "$OUT/stdout")" ] || fail 'a number was offered'
# As bash cuts --option=value.
expect 0 bash "$OUT/offer" "$bw" --mapping = w
[ "$(cat "$OUT/stdout")" = wc ] || fail 'choices of --mapping='
expect 0 bash "$OUT/offer" "$bw" --alloc =
[ "$(xargs <"$OUT/stdout")" = 'cuMemAlloc cuMemCreate' ] || fail 'choices of --alloc='
: >"$OUT/a file.json"
expect 0 bash "$OUT/offer" "$bw" --baseline "$OUT/a f"
said "^$OUT/a file.json\$"
expect 0 bash "$OUT/offer" "$bw" --baseline = "$OUT/a f"
said "^$OUT/a file.json\$"

# By the name without prefix, which an installation links.
ln -s "$bw" "$OUT/copybw"
expect 0 "$OUT/copybw" --completion bash
said '^complete -o filenames -F _gdrcopy_copybw copybw$'

# It is not among what the user is told.
expect 0 "$bw" --help
count completion 0

# What may be given several times is offered several times; nothing else is.
if [ -x "$TOOLS/gdrcopy_sanity" ]; then
	expect 0 "$TOOLS/gdrcopy_sanity" --completion zsh
	count "^${tab:=$(printf '\t')}'[*]-t[+]\\[.*:NAME:'" 1
	count "^$tab'[*]--test=\\[.*:NAME:'" 1
	count "^$tab'[*]" 2
fi
