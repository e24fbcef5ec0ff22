package grafana

// processes shows what each instance uses.
func processes() Dashboard {
	of := `service_name=~"$service", ` + here
	service := choice("service", "Service", `label_values(go_build_info{path=~"github.com/partnergifting/platform/.+", namespace=~"$namespace"}, service_name)`, true)
	each := "{{service_name}} {{instance}}"
	return dashboard("runtime", "Runtime", "Processors, memory and the Go runtime of each instance.", []variable{service},
		section{"Processes", []item{
			graph("Processors in use", "", count, query{`rate(process_cpu_seconds_total{` + of + `}[$__rate_interval])`, each}),
			graph("Memory", "", bytes, query{`process_resident_memory_bytes{` + of + `}`, each}),
			graph("Age", "Falls to nothing with each start.", seconds, query{`time() - process_start_time_seconds{` + of + `}`, each}),
			graph("Open files", "Of those the process may have.", share, query{`process_open_fds{` + of + `} / process_max_fds{` + of + `}`, each}),
			graph("Time left of the certificate", "Renewed ten days before its end.", seconds, query{`gifting_certificate_not_after_seconds{` + of + `} - time()`, each}),
		}},
		section{"Go", []item{
			graph("Goroutines", "", count, query{`go_goroutines{` + of + `}`, each}),
			graph("Heap", "", bytes, query{`go_memstats_heap_alloc_bytes{` + of + `}`, each}),
			graph("Objects", "", count, query{`go_memstats_heap_objects{` + of + `}`, each}),
		}},
	)
}
