package grafana

// delivery follows a change from its outbox to feed and webhooks.
func delivery() Dashboard {
	return dashboard("delivery", "Events and webhooks", "The way of a change: outbox, relay, Kafka, feed, webhooks.", nil,
		section{"At a glance", []item{
			wide(number("Leaders", "Exactly one relay leads.", count, falling(1), query{`sum by (namespace) (gifting_relay_leads{` + here + `})`, "{{namespace}}"}), fullWidth/4),
			wide(number("Oldest change not published", "", seconds, rising(30), query{`max by (source, namespace) (gifting_relay_oldest_age_seconds{` + here + `})`, "{{source}} {{namespace}}"}), fullWidth/4),
			wide(number("Messages not handled", "", count, rising(5000), query{`sum by (service_name, namespace) (gifting_kafka_consumer_lag{` + here + `})`, "{{service_name}} {{namespace}}"}), fullWidth/4),
			wide(number("Webhook due for longest", "", seconds, rising(60), query{`max by (namespace) (gifting_webhook_oldest_due_age_seconds{` + here + `})`, "{{namespace}}"}), fullWidth/4),
		}},
		section{"Relay", []item{
			graph("Oldest change not published", "", seconds, query{`max by (source) (gifting_relay_oldest_age_seconds{` + here + `})`, "{{source}}"}),
			graph("Published", "", perSecond, query{`sum(rate(gifting_relay_published_total{` + here + `}[$__rate_interval]))`, "changes"}),
			graph("Rounds that failed", "", perSecond, query{`sum by (instance) (rate(gifting_relay_failures_total{` + here + `}[$__rate_interval]))`, "{{instance}}"}),
		}},
		section{"Kafka", []item{
			graph("Time of a send", "", seconds, quantiles(`messaging_client_operation_duration_seconds_bucket{messaging_operation_name="send", service_name="events", `+here+`}`)...),
			graph("Sent and handled", "", perSecond,
				query{`sum(rate(messaging_client_sent_messages_total{service_name="events", ` + here + `}[$__rate_interval]))`, "sent"},
				query{`sum by (service_name) (rate(messaging_client_consumed_messages_total{messaging_consumer_group_name!="", ` + here + `}[$__rate_interval]))`, "handled by {{service_name}}"}),
			graph("Messages not handled", "", count, query{`sum by (service_name, messaging_destination_partition_id) (gifting_kafka_consumer_lag{` + here + `})`, "{{service_name}} {{messaging_destination_partition_id}}"}),
			graph("Time of a batch", "The slowest of a hundred.", seconds,
				query{`histogram_quantile(0.99, sum by (service_name, le) (rate(messaging_process_duration_seconds_bucket{service_name=~"events|webhook", ` + here + `}[$__rate_interval])))`, "{{service_name}}"}),
			graph("Partitions read", "", count, query{`sum by (service_name) (gifting_kafka_consumer_partitions{` + here + `})`, "{{service_name}}"}),
			graph("Trouble of readers", "Gaps and past the end must stay 0: changes were lost.", count,
				query{`sum by (service_name) (increase(gifting_kafka_reader_restarts_total{` + here + `}[$__rate_interval]))`, "restarts of {{service_name}}"},
				query{`sum by (service_name) (increase(gifting_kafka_handler_errors_total{` + here + `}[$__rate_interval]))`, "failed batches of {{service_name}}"},
				query{`sum by (service_name) (increase(gifting_kafka_reader_gaps_total{` + here + `}[$__rate_interval]))`, "gaps of {{service_name}}"},
				query{`sum by (service_name) (increase(gifting_kafka_reader_past_end_total{` + here + `}[$__rate_interval]))`, "past the end of {{service_name}}"},
				query{`sum(increase(gifting_webhook_rejected_messages_total{` + here + `}[$__rate_interval]))`, "no change"}),
		}},
		section{"Feed", []item{
			graph("From a change to the feed", "", seconds, quantiles(`gifting_feed_delay_seconds_bucket{`+here+`}`)...),
			graph("Later than promised", "", share,
				query{`gifting:promise_broken:rate5m{promise="feed-lag", ` + here + `} / gifting:promise_events:rate5m{promise="feed-lag", ` + here + `}`, "{{namespace}}"}),
			graph("Reads", "", perSecond,
				query{`sum by (rpc_response_status_code) (rate(rpc_server_call_duration_seconds_count{rpc_method="gifting.events.v1.EventsService/ListEvents", ` + here + `}[$__rate_interval]))`, "{{rpc_response_status_code}}"}),
		}},
		section{"Webhooks", []item{
			graph("From a change to the first attempt", "Of those that were taken.", seconds, quantiles(`gifting_webhook_first_attempt_delay_seconds_bucket{class="2xx", `+here+`}`)...),
			graph("Attempts by what came of them", "", perSecond, query{`sum by (class) (rate(gifting_webhook_attempt_duration_seconds_count{` + here + `}[$__rate_interval]))`, "{{class}}"}),
			graph("Deliveries by what became of them", "not_counted, lease_lost and not_recorded are faults of ours.", perSecond,
				query{`sum by (outcome) (rate(gifting_webhook_deliveries_total{` + here + `}[$__rate_interval]))`, "{{outcome}}"}),
			graph("Waiting", "", count, query{`max by (namespace) (gifting_webhook_waiting_deliveries{` + here + `})`, "{{namespace}}"}),
			graph("Age of what waits", "The oldest grows with every endpoint that is dead; the one due for longest only when senders do not keep up.", seconds,
				query{`max by (namespace) (gifting_webhook_oldest_waiting_age_seconds{` + here + `})`, "oldest {{namespace}}"},
				query{`max by (namespace) (gifting_webhook_oldest_due_age_seconds{` + here + `})`, "due for longest {{namespace}}"}),
			graph("Time of an attempt", "The slowest of a hundred.", seconds,
				query{`histogram_quantile(0.99, sum by (class, le) (rate(gifting_webhook_attempt_duration_seconds_bucket{` + here + `}[$__rate_interval])))`, "{{class}}"}),
		}},
	)
}
