/* Tests of parameters: values of each type, the command line, refused changes, the end of callbacks. */
#include "check.h"

static int freed;

static const char *refuse_negative(void *context, const gantry_parameter *parameters, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (parameters[i].value_type == GANTRY_PARAMETER_INTEGER && parameters[i].integer_value < 0)
            return context;
    return NULL;
}

static void count_free(void *context) {
    CHECK(strcmp(context, "it is negative") == 0);
    freed++;
}

static void every_type(const gantry_node *node) {
    const uint8_t bytes[] = {0, 255};
    const bool bools[] = {true, false};
    const int64_t integers[] = {INT64_MIN, 7};
    const double doubles[] = {-0.5};
    const char *const strings[] = {"", "two"};
    const gantry_parameter given[] = {
        {.name = "all.bool", .value_type = GANTRY_PARAMETER_BOOL, .bool_value = true},
        {.name = "all.integer", .value_type = GANTRY_PARAMETER_INTEGER, .integer_value = -3},
        {.name = "all.double", .value_type = GANTRY_PARAMETER_DOUBLE, .double_value = 2.5},
        {.name = "all.string", .value_type = GANTRY_PARAMETER_STRING, .string_value = "text"},
        {.name = "all.bytes", .value_type = GANTRY_PARAMETER_BYTE_ARRAY, .elements = bytes, .count = 2},
        {.name = "all.bools", .value_type = GANTRY_PARAMETER_BOOL_ARRAY, .elements = bools, .count = 2},
        {.name = "all.integers", .value_type = GANTRY_PARAMETER_INTEGER_ARRAY, .elements = integers, .count = 2},
        {.name = "all.doubles", .value_type = GANTRY_PARAMETER_DOUBLE_ARRAY, .elements = doubles, .count = 1},
        {.name = "all.strings", .value_type = GANTRY_PARAMETER_STRING_ARRAY, .elements = strings, .count = 2},
        {.name = "all.none", .value_type = GANTRY_PARAMETER_DOUBLE_ARRAY},
    };
    const size_t count = sizeof given / sizeof *given;
    for (size_t i = 0; i < count; i++)
        OK(gantry_node_declare_parameter(node, &given[i], NULL, NULL));
    gantry_parameters *list;
    OK(gantry_node_get_parameters_by_prefix(node, "all", &list));
    CHECK(gantry_parameters_count(list) == count && gantry_parameters_get(list, count) == NULL);
    for (size_t i = 0; i < count; i++) {
        const gantry_parameter *found = gantry_parameters_get(list, i), *same = given;
        while (strcmp(same->name + strlen("all."), found->name) != 0)
            same++;
        CHECK(found->value_type == same->value_type && found->count == same->count);
        CHECK(found->bool_value == same->bool_value && found->integer_value == same->integer_value);
        CHECK(found->double_value == same->double_value);
        if (same->string_value)
            CHECK(strcmp(found->string_value, same->string_value) == 0);
        size_t size = same->value_type <= GANTRY_PARAMETER_BOOL_ARRAY ? 1 : 8;
        if (same->value_type != GANTRY_PARAMETER_STRING_ARRAY && same->count > 0)
            CHECK(memcmp(found->elements, same->elements, size * same->count) == 0);
        for (size_t j = 0; same->value_type == GANTRY_PARAMETER_STRING_ARRAY && j < same->count; j++)
            CHECK(strcmp(((const char *const *)found->elements)[j], strings[j]) == 0);
    }
    gantry_parameters_destroy(list);
}

static const gantry_parameter DOUBLED = {.name = "rate", .value_type = GANTRY_PARAMETER_DOUBLE, .double_value = 40};

static void replace(void *context, const gantry_parameter **parameters, size_t *count) {
    CHECK(*count == 1 && strcmp(context, "it is negative") == 0);
    *parameters = &DOUBLED;
}

static void break_list(void *context, const gantry_parameter **parameters, size_t *count) {
    CHECK(*count == 1);
    *parameters = context;
}

/* A function that makes an unreadable list refuses the change, and the error text has the cause. */
static void refused_list(const gantry_node *node, gantry_parameter rate, const gantry_parameter *list, const char *why) {
    gantry_parameter_callback *before;
    OK(gantry_node_before_set_parameters(node, break_list, (void *)list, NULL, &before));
    CHECK(gantry_node_set_parameters(node, &rate, 1) == GANTRY_INVALID_ARGUMENT);
    CHECK(error_says("\"rate\" is refused: the function of gantry_node_before_set_parameters") && error_says(why));
    gantry_parameter_callback_destroy(before);
}

static double last_rate;

static void remember(void *context, const gantry_parameter *parameters, size_t count) {
    CHECK(context == NULL && count == 1);
    last_rate = parameters[0].double_value;
}

static void before_and_after(const gantry_node *node, gantry_parameter rate) {
    gantry_parameter_callback *before, *after;
    OK(gantry_node_before_set_parameters(node, replace, "it is negative", count_free, &before));
    OK(gantry_node_after_set_parameters(node, remember, NULL, NULL, &after));
    int freed_before = freed;
    rate.value_type = GANTRY_PARAMETER_DOUBLE, rate.double_value = 20;
    OK(gantry_node_set_parameters(node, &rate, 1));
    CHECK(last_rate == 40);
    gantry_parameter_callback_destroy(before);
    CHECK(freed == freed_before + 1);
    const gantry_parameter no_elements = {.name = "all.doubles", .value_type = GANTRY_PARAMETER_DOUBLE_ARRAY, .count = 3};
    refused_list(node, rate, NULL, "*parameters is NULL, but its count is 1");
    refused_list(node, rate, &no_elements, "elements of the parameter all.doubles is NULL, but its count is 3");
    CHECK(last_rate == 40);
    gantry_parameter_callback_destroy(after);
    CHECK(gantry_node_after_set_parameters(node, NULL, NULL, NULL, &after) == GANTRY_INVALID_ARGUMENT);
    OK(gantry_node_set_parameters(node, &rate, 1));
    CHECK(last_rate == 40);
}

static void descriptions(const gantry_node *node) {
    int32_t type = -1;
    gantry_parameter_options options = {.struct_size = sizeof options};
    gantry_strings *list;
    OK(gantry_node_describe_parameter(node, "rate", &type, &options, &list));
    CHECK(type == GANTRY_PARAMETER_DOUBLE && options.has_double_range && options.double_to == 60);
    CHECK(options.description[0] == 0 && !options.is_read_only && !options.has_integer_range);
    gantry_strings_destroy(list);
    CHECK(gantry_node_describe_parameter(node, "none", &type, &options, &list) == GANTRY_INVALID_ARGUMENT && list == NULL);
    CHECK(gantry_node_describe_parameter(node, "rate", NULL, &options, &list) == GANTRY_INVALID_ARGUMENT);
    const char *const prefixes[] = {"all"};
    OK(gantry_node_list_parameters(node, prefixes, 1, 0, &list));
    CHECK(gantry_strings_count(list) == 10 && strcmp(gantry_strings_get(list, 0), "all.bool") == 0);
    gantry_strings_destroy(list);
    CHECK(gantry_node_list_parameters(node, NULL, 1, 0, &list) == GANTRY_INVALID_ARGUMENT);
    OK(gantry_node_list_parameters(node, NULL, 0, 0, &list));
    CHECK(gantry_strings_count(list) == 12);
    gantry_strings_destroy(list);
}

int main(void) {
    const char *const arguments[] = {"--ros-args", "-p", "rate:=50.0"};
    const gantry_node_options options = {.struct_size = sizeof options, .arguments = arguments, .argument_count = 3};
    gantry_node *node;
    OK(gantry_node_create("set", &options, &node));
    every_type(node);

    gantry_parameter rate = {.name = "rate", .value_type = GANTRY_PARAMETER_DOUBLE, .double_value = 30};
    const gantry_parameter_options range = {.struct_size = sizeof range, .has_double_range = true, .double_to = 60};
    gantry_parameters *value;
    CHECK(gantry_node_get_parameter(node, "rate", &value) == GANTRY_INVALID_ARGUMENT && error_says("not declared"));
    CHECK(!gantry_node_has_parameter(node, "rate"));
    OK(gantry_node_declare_parameter(node, &rate, &range, &value));
    CHECK(gantry_node_has_parameter(node, "rate") && gantry_parameters_get(value, 0)->double_value == 50);
    gantry_parameters_destroy(value);
    CHECK(gantry_node_declare_parameter(node, &rate, NULL, NULL) == GANTRY_INVALID_ARGUMENT && error_says("already"));
    descriptions(node);
    rate.double_value = 61;
    CHECK(gantry_node_set_parameters(node, &rate, 1) == GANTRY_INVALID_ARGUMENT && error_says("out of range"));
    rate.value_type = 10;
    CHECK(gantry_node_set_parameters(node, &rate, 1) == GANTRY_INVALID_ARGUMENT && error_says("is 10"));

    gantry_parameter_callback *callback;
    char *reason = "it is negative";
    OK(gantry_node_on_set_parameters(node, refuse_negative, reason, count_free, &callback));
    gantry_parameter both[] = {
        {.name = "rate", .value_type = GANTRY_PARAMETER_DOUBLE, .double_value = 20},
        {.name = "all.integer", .value_type = GANTRY_PARAMETER_INTEGER, .integer_value = -1},
    };
    CHECK(gantry_node_set_parameters(node, both, 2) == GANTRY_INVALID_ARGUMENT && error_says(reason));
    OK(gantry_node_get_parameter(node, "rate", &value));
    CHECK(gantry_parameters_get(value, 0)->double_value == 50); /* all or none */
    gantry_parameters_destroy(value);
    CHECK(freed == 0);
    gantry_parameter_callback_destroy(callback);
    CHECK(freed == 1);
    OK(gantry_node_set_parameters(node, both, 2));
    before_and_after(node, rate);
    CHECK(gantry_node_on_set_parameters(node, NULL, reason, count_free, &callback) == GANTRY_INVALID_ARGUMENT);
    CHECK(freed == 3 && callback == NULL);
    CHECK(gantry_node_on_set_parameters(node, refuse_negative, reason, count_free, NULL) == GANTRY_INVALID_ARGUMENT);
    CHECK(freed == 4);
    OK(gantry_node_on_set_parameters(node, refuse_negative, reason, count_free, &callback));
    gantry_node_destroy(node);
    gantry_parameter_callback_destroy(callback);
    CHECK(freed == 5);
    return 0;
}
