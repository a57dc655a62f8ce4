/* SPDX-License-Identifier: MIT */
/* Info, callback flag and attributes on the gdrdrv backend, by driver version. */
#include "fixture.h"

/* The header renames the v1 function; this is the exported symbol of old programs. */
#undef gdr_get_info
int gdr_get_info(gdr_t g, gdr_mh_t handle, void *info40);

static const uint32_t served[] = { V(2, 0), V(2, 3), V(2, 4), V(2, 5), V(2, 6) };

#define HANDLE 0x10ull

static void done(gdr_t g, gdr_mh_t mh)
{
	will_unpin(HANDLE, 0);
	assert_int_equal(gdr_unpin_buffer(g, mh), 0);
	finish(g);
	driver_reset();
}

static uint64_t get64(const uint8_t *buf, size_t at)
{
	uint64_t v;

	memcpy(&v, buf + at, sizeof(v));
	return v;
}

static uint32_t get32(const uint8_t *buf, size_t at)
{
	uint32_t v;

	memcpy(&v, buf + at, sizeof(v));
	return v;
}

static void info_is_the_drivers(void **state)
{
	size_t i;
	uint32_t type;

	for (i = 0; i < COUNT(served); i++) {
		gdr_t g = open_driver(served[i]);
		gdr_mh_t mh = pin(g, served[i], HANDLE);

		/* DEVICE can be told since 2.4 only. */
		for (type = 0; type <= (served[i] < HAS_INFO_V2 ? 2 : 3); type++) {
			gdr_info_v2_t info;

			memset(&info, 0xA5, sizeof(info));
			will_get_info(served[i], HANDLE, type, 0);
			assert_int_equal(gdr_get_info_v2(g, mh, &info), 0);
			assert_int_equal(info.va, INFO_VA);
			assert_int_equal(info.mapped_size, INFO_SIZE);
			assert_int_equal(info.page_size, INFO_PAGE_SIZE);
			assert_int_equal(info.tm_cycles, INFO_CYCLES);
			assert_int_equal(info.cycles_per_ms, INFO_KHZ);
			assert_int_equal(info.mapped, type != 0);
			assert_int_equal(info.wc_mapping, type == 1);
			assert_int_equal(info.mapping_type, type);
		}
		done(g, mh);
	}
}

/* Old programs pass 40 bytes: those are filled, the next one is not theirs. */
static void v1_info_writes_40_bytes(void **state)
{
	size_t i, at;
	uint32_t type;

	for (i = 0; i < COUNT(served); i++) {
		gdr_t g = open_driver(served[i]);
		gdr_mh_t mh = pin(g, served[i], HANDLE);

		for (type = 0; type <= 2; type++) {
			_Alignas(8) uint8_t buf[64];

			memset(buf, 0xA5, sizeof(buf));
			will_get_info(served[i], HANDLE, type, 0);
			assert_int_equal(gdr_get_info(g, mh, buf), 0);
			assert_int_equal(get64(buf, 0), INFO_VA);
			assert_int_equal(get64(buf, 8), INFO_SIZE);
			assert_int_equal(get32(buf, 16), INFO_PAGE_SIZE);
			assert_int_equal(get64(buf, 24), INFO_CYCLES);
			assert_int_equal(get32(buf, 32), INFO_KHZ);
			assert_int_equal(buf[36] & 3, (type != 0) | (type == 1) << 1);
			for (at = 40; at < sizeof(buf); at++)
				assert_int_equal(buf[at], 0xA5);
		}
		done(g, mh);
	}
}

static void info_errors_leave_the_output_alone(void **state)
{
	static const int errors[] = { EINVAL, EACCES, EFAULT, ENOTTY };
	size_t v, i;

	for (v = 0; v < COUNT(served); v++) {
		gdr_t g = open_driver(served[v]);
		gdr_mh_t mh = pin(g, served[v], HANDLE);

		for (i = 0; i < COUNT(errors); i++) {
			gdr_info_v2_t info, before;

			memset(&before, 0xA5, sizeof(before));
			memcpy(&info, &before, sizeof(info));
			will_get_info(served[v], HANDLE, 1, errors[i]);
			assert_int_equal(gdr_get_info_v2(g, mh, &info), errors[i]);
			assert_memory_equal(&info, &before, sizeof(info));
			assert_non_null(strstr(gdrx_last_error(),
					       "info query, kernel handle 0x10"));
			will_get_info(served[v], HANDLE, 1, errors[i]);
			assert_int_equal(gdr_get_info(g, mh, &info), errors[i]);
			assert_memory_equal(&info, &before, sizeof(info));
		}
		will_get_info(served[v], HANDLE, 1, EINTR);
		will_get_info(served[v], HANDLE, 1, 0);
		assert_int_equal(gdr_get_info(g, mh, &(gdr_info_v2_t){ 0 }), 0);
		done(g, mh);
	}
}

static void an_unknown_type_is_an_error(void **state)
{
	gdr_t g = open_driver(V(2, 9));
	gdr_mh_t mh = pin(g, V(2, 9), HANDLE);
	gdr_info_v2_t info;

	will_get_info_v2(HANDLE, 4, 0);
	assert_int_equal(gdr_get_info_v2(g, mh, &info), EPROTO);
	will_get_info_v2(HANDLE, 0xffffffff, 0);
	assert_int_equal(gdr_get_info_v2(g, mh, &info), EPROTO);
	done(g, mh);
}

static void callback_flag_is_0_or_1(void **state)
{
	static const int errors[] = { EINVAL, EACCES, EFAULT };
	size_t v, i;

	for (v = 0; v < COUNT(served); v++) {
		gdr_t g = open_driver(served[v]);
		gdr_mh_t mh = pin(g, served[v], HANDLE);
		int flag = -1;

		will_get_cb_flag(HANDLE, 0, 0);
		assert_int_equal(gdr_get_callback_flag(g, mh, &flag), 0);
		assert_int_equal(flag, 0);
		will_get_cb_flag(HANDLE, 0, EINTR);
		will_get_cb_flag(HANDLE, 1, 0);
		assert_int_equal(gdr_get_callback_flag(g, mh, &flag), 0);
		assert_int_equal(flag, 1);
		flag = 7;
		for (i = 0; i < COUNT(errors); i++) {
			will_get_cb_flag(HANDLE, 1, errors[i]);
			assert_int_equal(gdr_get_callback_flag(g, mh, &flag), errors[i]);
			assert_int_equal(flag, 7);
		}
		done(g, mh);
	}
}

static void attributes_are_asked_for_since_2_5(void **state)
{
	size_t v;
	int attr;

	for (v = 0; v < COUNT(served); v++) {
		gdr_t g = open_driver(served[v]);

		for (attr = 1; attr <= 2; attr++) {
			int value = 7, known = served[v] >= HAS_PIN_V2;

			if (known) {
				will_get_attr((uint32_t)attr, 0, EINTR);
				will_get_attr((uint32_t)attr, 1, 0);
			}
			assert_int_equal(gdr_get_attribute(g, (gdr_attr_t)attr, &value),
					 0);
			assert_int_equal(value, known);
			if (known)
				will_get_attr((uint32_t)attr, 0, 0);
			value = 7;
			assert_int_equal(gdr_get_attribute(g, (gdr_attr_t)attr, &value),
					 0);
			assert_int_equal(value, 0);
		}
		finish(g);
		driver_reset();
	}
}

/* D8: an attribute that the driver does not know is one that is off. */
static void d8_an_attribute_the_driver_does_not_know_is_0(void **state)
{
	gdr_t g = open_driver(V(2, 5));
	int value = 7;

	will_get_attr(2, 1, EINVAL);
	assert_int_equal(
		gdr_get_attribute(g, GDR_ATTR_SUPPORT_PIN_FLAG_FORCE_PCIE, &value), 0);
	assert_int_equal(value, 0);
	finish(g);
}

static void attribute_errors_come_out(void **state)
{
	static const int errors[] = { EACCES, EFAULT, ENOTTY };
	gdr_t g = open_driver(V(2, 6));
	int value = 7;
	size_t i;

	for (i = 0; i < COUNT(errors); i++) {
		will_get_attr(1, 1, errors[i]);
		assert_int_equal(gdr_get_attribute(g, GDR_ATTR_USE_PERSISTENT_MAPPING,
						   &value),
				 errors[i]);
		assert_int_equal(value, 7);
		assert_non_null(strstr(gdrx_last_error(), "attribute 1"));
	}
	finish(g);
}

static void the_rest_of_the_attributes_needs_no_driver(void **state)
{
	static const int unknown[] = { 0, 4, 5, -1, 0x7fffffff };
	gdr_t g = open_driver(V(2, 6));
	int value = 7;
	size_t i;

	assert_int_equal(gdr_get_attribute(g, GDR_ATTR_USING_DMA_BUF_MMAP, &value), 0);
	assert_int_equal(value, 0);
	for (i = 0; i < COUNT(unknown); i++)
		assert_int_equal(gdr_get_attribute(g, (gdr_attr_t)unknown[i], &value),
				 EINVAL);
	finish(g);
}

/* D24: NULL is an error everywhere, and reaches neither memory nor the driver. */
static void d24_null_arguments_are_refused(void **state)
{
	gdr_t g = open_driver(V(2, 6));
	gdr_mh_t mh = pin(g, V(2, 6), HANDLE), out = { 0x5a5a };
	gdr_info_v2_t info;
	void *va = &info;
	int v = 7;

	assert_int_equal(gdr_pin_buffer(g, ADDR, SIZE, 0, 0, NULL), EINVAL);
	assert_int_equal(gdr_pin_buffer_v2(g, ADDR, SIZE, 0, NULL), EINVAL);
	assert_int_equal(gdr_get_callback_flag(g, mh, NULL), EINVAL);
	assert_int_equal(gdr_get_info_v2(g, mh, NULL), EINVAL);
	assert_int_equal(gdr_get_info(g, mh, NULL), EINVAL);
	assert_int_equal(gdr_map(g, mh, NULL, SIZE), EINVAL);
	assert_int_equal(gdr_map_v2(g, mh, NULL, SIZE, 0), EINVAL);
	assert_int_equal(gdr_unmap(g, mh, NULL, SIZE), EINVAL);
	assert_int_equal(gdr_get_attribute(g, GDR_ATTR_USE_PERSISTENT_MAPPING, NULL),
			 EINVAL);
	assert_int_equal(gdr_get_mapping_type_string(GDR_MAPPING_TYPE_WC, NULL), EINVAL);

	assert_int_equal(gdr_pin_buffer(NULL, ADDR, SIZE, 0, 0, &out), EINVAL);
	assert_int_equal(gdr_pin_buffer_v2(NULL, ADDR, SIZE, 0, &out), EINVAL);
	assert_int_equal(gdr_unpin_buffer(NULL, mh), EINVAL);
	assert_int_equal(gdr_get_callback_flag(NULL, mh, &v), EINVAL);
	assert_int_equal(gdr_get_info_v2(NULL, mh, &info), EINVAL);
	assert_int_equal(gdr_map(NULL, mh, &va, SIZE), EINVAL);
	assert_int_equal(gdr_unmap(NULL, mh, va, SIZE), EINVAL);
	assert_int_equal(gdr_get_attribute(NULL, GDR_ATTR_USING_DMA_BUF_MMAP, &v),
			 EINVAL);
	assert_int_equal(gdr_close(NULL), EINVAL);
	assert_null(gdrx_backend_name(NULL));
	assert_int_equal(out.h, 0x5a5a);
	assert_int_equal(v, 7);
	done(g, mh);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(info_is_the_drivers, setup),
		cmocka_unit_test_setup(v1_info_writes_40_bytes, setup),
		cmocka_unit_test_setup(info_errors_leave_the_output_alone, setup),
		cmocka_unit_test_setup(an_unknown_type_is_an_error, setup),
		cmocka_unit_test_setup(callback_flag_is_0_or_1, setup),
		cmocka_unit_test_setup(attributes_are_asked_for_since_2_5, setup),
		cmocka_unit_test_setup(d8_an_attribute_the_driver_does_not_know_is_0,
				       setup),
		cmocka_unit_test_setup(attribute_errors_come_out, setup),
		cmocka_unit_test_setup(the_rest_of_the_attributes_needs_no_driver, setup),
		cmocka_unit_test_setup(d24_null_arguments_are_refused, setup),
	};

	return cmocka_run_group_tests_name("kabi query", tests, NULL, NULL);
}
