package grafana

// edge shows what the gateway answers, and what it costs it.
func edge() Dashboard {
	gateway := `service_name="gateway", ` + here
	return dashboard("edge", "Edge", "The gateway: requests, limits, idempotency and the calls it makes.", nil,
		section{"Requests", []item{
			graph("By route", "", perSecond,
				query{`sum by (http_request_method, http_route) (rate(http_server_request_duration_seconds_count{` + gateway + `}[$__rate_interval]))`, "{{http_request_method}} {{http_route}}"}),
			graph("By status", "", perSecond,
				query{`sum by (http_response_status_code) (rate(http_server_request_duration_seconds_count{` + gateway + `}[$__rate_interval]))`, "{{http_response_status_code}}"}),
			graph("Faults of ours by route", "", perSecond,
				query{`sum by (http_route, http_response_status_code) (rate(http_server_request_duration_seconds_count{http_response_status_code=~"5..", ` + gateway + `}[$__rate_interval]))`, "{{http_route}} {{http_response_status_code}}"}),
			graph("Time of an answer", "Without webhook tests, which wait for somebody else's server.", seconds,
				quantiles(`http_server_request_duration_seconds_bucket{http_route!="/webhooks:test", `+gateway+`}`)...),
			graph("Slowest of a hundred by route", "", seconds,
				query{`histogram_quantile(0.99, sum by (http_route, le) (rate(http_server_request_duration_seconds_bucket{` + gateway + `}[$__rate_interval])))`, "{{http_route}}"}),
			graph("Gift site", "", perSecond,
				query{`sum by (http_request_method, http_response_status_code) (rate(http_server_request_duration_seconds_count{http_route=~"/c/.*", ` + gateway + `}[$__rate_interval]))`, "{{http_request_method}} {{http_response_status_code}}"}),
		}},
		section{"Limits and idempotency", []item{
			graph("Refused for their rate", "", perSecond,
				query{`sum by (http_route) (rate(http_server_request_duration_seconds_count{http_response_status_code="429", ` + gateway + `}[$__rate_interval]))`, "{{http_route}}"}),
			graph("Counted without Redis", "", perSecond,
				query{`sum by (limiter) (rate(gifting_gateway_limiter_fallback_total{` + here + `}[$__rate_interval]))`, "{{limiter}}"}),
			graph("Idempotency keys", "new; replay: a stored answer; mismatch: another request under the key; conflict: the first one is under way.", perSecond,
				query{`sum by (outcome) (rate(gifting_gateway_idempotency_requests_total{` + here + `}[$__rate_interval]))`, "{{outcome}}"}),
		}},
		section{"Calls of services", []item{
			graph("By method", "", perSecond,
				query{`sum by (rpc_method) (rate(rpc_client_call_duration_seconds_count{` + gateway + `}[$__rate_interval]))`, "{{rpc_method}}"}),
			graph("Faults", "", perSecond,
				query{`sum by (rpc_method, rpc_response_status_code) (rate(rpc_client_call_duration_seconds_count{rpc_response_status_code=~"` + faults + `", ` + gateway + `}[$__rate_interval]))`, "{{rpc_method}} {{rpc_response_status_code}}"}),
			graph("Slowest of a hundred by method", "", seconds,
				query{`histogram_quantile(0.99, sum by (rpc_method, le) (rate(rpc_client_call_duration_seconds_bucket{` + gateway + `}[$__rate_interval])))`, "{{rpc_method}}"}),
		}},
		section{"Redis", pools(`db_system_name="redis", service_name="gateway"`)},
	)
}

// faults are the statuses of gRPC that are no refusal.
const faults = "INTERNAL|UNAVAILABLE|UNKNOWN|DEADLINE_EXCEEDED|DATA_LOSS"

// pools shows the connection pools that the labels select.
func pools(labels string) []item {
	labels += ", " + here
	return []item{
		graph("Connections in use", "Of those the pool may have, in the fullest instance.", share,
			query{`max by (service_name, db_client_connection_pool_name) (db_client_connection_count{db_client_connection_state="used", ` + labels + `} / ignoring (db_client_connection_state) db_client_connection_max{` + labels + `})`, "{{service_name}} {{db_client_connection_pool_name}}"}),
		graph("Calls that waited for a connection", "", perSecond,
			query{`sum by (service_name, db_client_connection_pool_name) (rate(gifting_db_pool_waits_total{` + labels + `}[$__rate_interval]))`, "{{service_name}} {{db_client_connection_pool_name}}"}),
		graph("Time of such a wait", "", seconds,
			query{`sum by (service_name, db_client_connection_pool_name) (rate(gifting_db_pool_wait_time_seconds_total{` + labels + `}[$__rate_interval])) / sum by (service_name, db_client_connection_pool_name) (rate(gifting_db_pool_waits_total{` + labels + `}[$__rate_interval]))`, "{{service_name}} {{db_client_connection_pool_name}}"}),
	}
}
