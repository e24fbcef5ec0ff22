package grafana

// overview shows the promises first, then what is done and by whom.
func overview() Dashboard {
	return dashboard("overview", "Overview", "What the platform promises and whether it is kept.", nil,
		section{"Promises", []item{
			wide(number("Kept in thirty days", "The share of events for which the promise was kept.", share, plain(),
				query{`1 - sum by (namespace, promise) (sum_over_time(gifting:promise_broken:rate5m{` + here + `}[30d])) / sum by (namespace, promise) (sum_over_time(gifting:promise_events:rate5m{` + here + `}[30d]))`, "{{promise}} {{namespace}}"},
			), fullWidth/2),
			wide(number("Left of what thirty days allow", "Red when used up.", share, falling(0),
				query{`1 - sum by (namespace, promise) (sum_over_time(gifting:promise_broken:rate5m{` + here + `}[30d])) / sum by (namespace, promise) (sum_over_time(gifting:promise_events:rate5m{` + here + `}[30d])) / on (promise) group_left () (1 - gifting:promise_objective:ratio)`, "{{promise}} {{namespace}}"},
			), fullWidth/2),
			graph("Burn within an hour", "How many times faster than allowed; somebody is woken above 14.4.", count,
				query{`gifting:promise_burn:1h{` + here + `}`, "{{promise}} {{namespace}}"}),
			graph("Burn within three days", "A ticket is opened above 1.", count,
				query{`gifting:promise_burn:3d{` + here + `}`, "{{promise}} {{namespace}}"}),
			graph("Alerts", "", count,
				query{`sum by (alertname, severity, namespace) (ALERTS{alertname=~"Gifting.+", alertstate="firing", namespace=~"$namespace"})`, "{{severity}} {{alertname}} {{namespace}}"}),
		}},
		section{"Users", []item{
			graph("Requests", "", perSecond,
				query{`sum by (http_route) (rate(http_server_request_duration_seconds_count{service_name="gateway", ` + here + `}[$__rate_interval]))`, "{{http_route}}"}),
			graph("Answers that are faults of ours", "", share,
				query{`(sum(rate(http_server_request_duration_seconds_count{service_name="gateway", http_response_status_code=~"5..", ` + here + `}[$__rate_interval])) or vector(0)) / sum(rate(http_server_request_duration_seconds_count{service_name="gateway", ` + here + `}[$__rate_interval]))`, "5xx"}),
			graph("Time of an answer", "", seconds, quantiles(`http_server_request_duration_seconds_bucket{service_name="gateway", http_route!="/webhooks:test", `+here+`}`)...),
		}},
		section{"Business", []item{
			graph("Orders placed", "By integrators, players and people of the workspace or the back office.", perSecond,
				query{`sum by (rpc_method) (rate(rpc_server_call_duration_seconds_count{rpc_method=~"gifting.orders.v1.(OrdersService/PlaceOrder|ClaimsService/PlaceClaimedOrder|OrderOperationsService/PlaceOrderAs)", rpc_response_status_code="OK", ` + here + `}[$__rate_interval]))`, "{{rpc_method}}"}),
			graph("Changes published", "", perSecond, query{`sum(rate(gifting_relay_published_total{` + here + `}[$__rate_interval]))`, "changes"}),
			graph("Webhooks delivered", "", perSecond,
				query{`sum by (outcome) (rate(gifting_webhook_deliveries_total{` + here + `}[$__rate_interval]))`, "{{outcome}}"}),
		}},
		section{"Instances", []item{
			graph("Instances", "", count,
				query{`count by (service_name) (go_build_info{path=~"github.com/partnergifting/platform/.+", ` + here + `})`, "{{service_name}}"}),
			graph("Versions", "", count,
				query{`count by (service_name, service_version) (target_info{` + ours + `})`, "{{service_name}} {{service_version}}"}),
			graph("Processors in use", "", count,
				query{`sum by (service_name) (rate(process_cpu_seconds_total{` + ours + `}[$__rate_interval]))`, "{{service_name}}"}),
		}},
	)
}

// ours selects the platform's processes among those that have the same metrics.
const ours = `service_name=~"gateway|tenants|catalog|orders|personal-links|events|webhook", ` + here

// quantiles asks for the usual ones of a histogram.
func quantiles(buckets string) []query {
	var all []query
	for _, q := range []string{"0.5", "0.95", "0.99"} {
		all = append(all, query{`histogram_quantile(` + q + `, sum by (le) (rate(` + buckets + `[$__rate_interval])))`, "p" + q[2:]})
	}
	all[0].legend = "p50"
	return all
}
