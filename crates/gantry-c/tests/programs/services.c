/* Tests of requests and responses, loaned and copied. A request without a response ends with a status. */
#include "check.h"

int main(void) {
    const gantry_type request_type = {sizeof(gantry_type), "test/srv/Echo_Request", NULL, 0, {0}};
    const gantry_type response_type = {sizeof(gantry_type), "test/srv/Echo_Response", NULL, 0, {0}};
    const gantry_service_type type = {sizeof type, "test/srv/Echo", &request_type, &response_type};
    gantry_node *node = new_node("server");
    gantry_service *service;
    gantry_client *client;
    OK(gantry_client_create(node, "echo", &type, NULL, &client));
    CHECK(gantry_client_send_request_copy(client, (const uint8_t *)"x", 1, NULL) == GANTRY_NO_SERVER);
    CHECK(error_says("/echo"));
    OK(gantry_service_create(node, "echo", &type, NULL, &service));
    CHECK(strcmp(gantry_service_name(service), "/echo") == 0 && strcmp(gantry_client_name(client), "/echo") == 0);
    OK(gantry_client_wait_for_service(client, PATIENCE));

    gantry_service_types *types;
    OK(gantry_node_service_types(node, "echo", &types));
    CHECK(gantry_service_types_count(types) == 1);
    CHECK(strcmp(gantry_service_types_get(types, 0)->response->name, "test/srv/Echo_Response") == 0);
    CHECK(gantry_service_types_get(types, 1) == NULL);
    gantry_service_types_destroy(types);

    gantry_loan loan;
    gantry_request_id sent, got;
    OK(gantry_client_loan_request(client, 5, &loan));
    memcpy(loan.data, "hello", 5);
    OK(gantry_client_send_request(client, &loan, &sent));
    CHECK(gantry_client_pending_requests(client) == 1);
    OK(gantry_service_wait(service, PATIENCE));
    gantry_sample request, response;
    OK(gantry_service_take_request(service, &request, &got));
    CHECK(memcmp(&sent, &got, sizeof sent) == 0 && request.size == 5);
    OK(gantry_service_loan_response(service, got, 5, &loan));
    memcpy(loan.data, request.data, 5);
    OK(gantry_service_send_response(service, got, &loan));
    OK(gantry_sample_release(&request));
    OK(gantry_client_wait(client, PATIENCE));
    OK(gantry_client_take_response(client, &response, &got));
    CHECK(memcmp(&sent, &got, sizeof sent) == 0 && memcmp(response.data, "hello", 5) == 0);
    OK(gantry_sample_release(&response));
    CHECK(gantry_client_take_response(client, &response, NULL) == GANTRY_NONE);

    /* A call without a response ends at its time-out. */
    CHECK(gantry_client_call_copy(client, (const uint8_t *)"late", 4, 1000000, &response) == GANTRY_CALL_TIMEOUT);
    OK(gantry_service_take_request(service, &request, &got));
    OK(gantry_service_send_response_copy(service, got, (const uint8_t *)"too late", 8));
    OK(gantry_sample_release(&request));

    /* The server ends before it sends the response. */
    OK(gantry_client_send_request_copy(client, (const uint8_t *)"last", 4, &sent));
    gantry_service_destroy(service);
    OK(gantry_client_wait(client, PATIENCE));
    CHECK(gantry_client_take_response(client, &response, &got) == GANTRY_SERVER_GONE);
    CHECK(got.sequence == sent.sequence && gantry_client_pending_requests(client) == 0);

    gantry_client_destroy(client);
    gantry_node_destroy(node);
    return 0;
}
