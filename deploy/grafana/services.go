package grafana

// services shows one service after the other: calls served, calls made, connections; and the stock of the catalog.
func services() Dashboard {
	of := `service_name=~"$service", ` + here
	service := choice("service", "Service", `label_values(rpc_server_call_duration_seconds_count{namespace=~"$namespace"}, service_name)`, true)
	return dashboard("services", "Services", "Rate, errors and duration of a service's calls, and its connections.", []variable{service},
		section{"Calls served", []item{
			graph("By method", "", perSecond,
				query{`sum by (rpc_method) (rate(rpc_server_call_duration_seconds_count{` + of + `}[$__rate_interval]))`, "{{rpc_method}}"}),
			graph("Faults of ours", "", perSecond,
				query{`sum by (rpc_method, rpc_response_status_code) (rate(rpc_server_call_duration_seconds_count{rpc_response_status_code=~"` + faults + `", ` + of + `}[$__rate_interval]))`, "{{rpc_method}} {{rpc_response_status_code}}"}),
			graph("Refusals", "", perSecond,
				query{`sum by (rpc_method, rpc_response_status_code) (rate(rpc_server_call_duration_seconds_count{rpc_response_status_code!~"OK|` + faults + `", ` + of + `}[$__rate_interval]))`, "{{rpc_method}} {{rpc_response_status_code}}"}),
			graph("Duration", "", seconds, quantiles(`rpc_server_call_duration_seconds_bucket{`+of+`}`)...),
			graph("Slowest of a hundred by method", "", seconds,
				query{`histogram_quantile(0.99, sum by (rpc_method, le) (rate(rpc_server_call_duration_seconds_bucket{` + of + `}[$__rate_interval])))`, "{{rpc_method}}"}),
			graph("By instance", "", perSecond,
				query{`sum by (service_name, instance) (rate(rpc_server_call_duration_seconds_count{` + of + `}[$__rate_interval]))`, "{{service_name}} {{instance}}"}),
		}},
		section{"Calls made", []item{
			graph("By method", "", perSecond,
				query{`sum by (service_name, rpc_method) (rate(rpc_client_call_duration_seconds_count{` + of + `}[$__rate_interval]))`, "{{service_name}} {{rpc_method}}"}),
			graph("Faults", "", perSecond,
				query{`sum by (service_name, rpc_method, rpc_response_status_code) (rate(rpc_client_call_duration_seconds_count{rpc_response_status_code=~"` + faults + `", ` + of + `}[$__rate_interval]))`, "{{service_name}} {{rpc_method}} {{rpc_response_status_code}}"}),
			graph("Slowest of a hundred by method", "", seconds,
				query{`histogram_quantile(0.99, sum by (service_name, rpc_method, le) (rate(rpc_client_call_duration_seconds_bucket{` + of + `}[$__rate_interval])))`, "{{service_name}} {{rpc_method}}"}),
		}},
		section{"Connections", pools(`service_name=~"$service"`)},
		section{"Stock", []item{
			graph("Units held for orders about to commit", "", count,
				query{`max by (namespace) (gifting_catalog_reservations_outstanding{` + here + `})`, "held {{namespace}}"}),
			graph("Past their expiry", "How long the oldest has been; nobody has settled it.", seconds,
				query{`max by (namespace) (gifting_catalog_reservations_overdue_age_seconds{` + here + `})`, "oldest {{namespace}}"}),
			graph("Reserved and settled", "", perSecond,
				query{`sum by (rpc_method, rpc_response_status_code) (rate(rpc_server_call_duration_seconds_count{rpc_method=~"gifting.catalog.v1.OrderingService/.+", ` + here + `}[$__rate_interval]))`, "{{rpc_method}} {{rpc_response_status_code}}"}),
		}},
	)
}
