package telemetry

import (
	"net"
	"net/http"
	"net/http/pprof" // It adds handlers to http.DefaultServeMux too, which no program serves.

	"github.com/partnergifting/platform/pkg/netguard"
)

// profiled reports whether the metrics port serves profiles. They show what the program does and slow it down, so by default only
// this machine gets them.
func (c Config) profiled() bool {
	host, _, err := net.SplitHostPort(c.MetricsAddr)
	return c.Profiling || err == nil && netguard.IsLoopback(host)
}

func serveProfiles(mux *http.ServeMux) {
	mux.HandleFunc("GET /debug/pprof/", pprof.Index) // Also serves heap, allocs, goroutine and so on.
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
}
