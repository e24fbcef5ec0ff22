// Package report makes one report of the output of benchmarks: a table for the terminal, and JSON.
package report

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5"
)

// Report is one run of the benchmarks.
type Report struct {
	At      time.Time `json:"at"`
	Version string    `json:"version"`
	// Machine is the machine of the run.
	Machine  Machine   `json:"machine"`
	Results  []Result  `json:"results"`
	Outcomes []Outcome `json:"outcomes"`
}

// Write writes the report as JSON into a folder.
func (r Report) Write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // The report is no secret.
		return fmt.Errorf("folder of the report: %w", err)
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "report.json"), append(text, '\n'), 0o644); err != nil { //nolint:gosec // As the folder.
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

// Result has the metrics of one benchmark by their units.
type Result struct {
	Benchmark string             `json:"benchmark"`
	Metrics   map[string]float64 `json:"metrics"`
}

var (
	// line is a result; the number after the name counts processors.
	line = regexp.MustCompile(`^Benchmark(\S+?)(?:-\d+)?\s+\d+\s+(.+)$`)
	// loose is a result whose name was printed earlier, because the benchmark logged in between.
	loose = regexp.MustCompile(`^\s+\d+\t\s*([-+0-9].*)$`)
	name  = regexp.MustCompile(`^Benchmark(\S+?)(?:-\d+)?\s*$`)
)

// Parse reads the output of `go test -bench`.
func Parse(output io.Reader) ([]Result, error) {
	var results []Result
	var last string
	lines := bufio.NewScanner(output)
	const longest = 1 << 20
	lines.Buffer(nil, longest)
	for lines.Scan() {
		text := lines.Text()
		if found := name.FindStringSubmatch(text); found != nil {
			last = found[1]
			continue
		}
		var benchmark, numbers string
		if found := line.FindStringSubmatch(text); found != nil {
			benchmark, numbers = found[1], found[2]
		} else if found := loose.FindStringSubmatch(text); found != nil && last != "" {
			benchmark, numbers = last, found[1]
		} else {
			continue
		}
		metrics, err := parseMetrics(numbers)
		if err != nil {
			return nil, fmt.Errorf("result of %s: %w", benchmark, err)
		}
		results = append(results, Result{Benchmark: benchmark, Metrics: metrics})
	}
	return results, lines.Err()
}

// parseMetrics reads pairs of a number and its unit.
func parseMetrics(text string) (map[string]float64, error) {
	fields := strings.Fields(text)
	metrics := map[string]float64{}
	for i := 0; i+1 < len(fields); i += 2 {
		value, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			return nil, err
		}
		metrics[fields[i+1]] = value
	}
	return metrics, nil
}

// Machine describes where the benchmarks ran.
type Machine struct {
	Processor string `json:"processor"`
	Cores     int    `json:"cores"`
	// Load is the average number of runnable processes in the minute before the run.
	Load       string `json:"load"`
	Go         string `json:"go"`
	PostgreSQL string `json:"postgresql"`
	// Fsync is the server's setting. If it is off, the side that writes to PostgreSQL most directly has an advantage.
	Fsync string `json:"fsync"`
	// Kafka is the kind of broker in the benchmarks of delivery and programs. The others run an embedded broker.
	Kafka string `json:"kafka"`
}

// Here describes this machine and the server at the URL.
func Here(ctx context.Context, server, kafka string) (Machine, error) {
	m := Machine{Cores: runtime.NumCPU(), Go: runtime.Version(), Kafka: kafka, Processor: processor()}
	load, _ := os.ReadFile("/proc/loadavg") // Only Linux has this file.
	m.Load, _, _ = strings.Cut(string(load), " ")
	db, err := pgx.Connect(ctx, server)
	if err != nil {
		return m, fmt.Errorf("reach PostgreSQL: %w", err)
	}
	defer func() { _ = db.Close(context.WithoutCancel(ctx)) }()
	err = db.QueryRow(ctx, "SELECT current_setting('server_version'), current_setting('fsync')").Scan(&m.PostgreSQL, &m.Fsync)
	if err != nil {
		return m, fmt.Errorf("ask PostgreSQL: %w", err)
	}
	return m, nil
}

// String implements fmt.Stringer.
func (m Machine) String() string {
	return fmt.Sprintf("%d × %s, load %s before; %s, PostgreSQL %s with fsync %s, "+
		"Kafka %s, an embedded one in the process for …/one-process, Tracing, BatchOfLinks, PageOfGifts and GrowthOf…",
		m.Cores, m.Processor, m.Load, m.Go, m.PostgreSQL, m.Fsync, m.Kafka)
}

func processor() string {
	file, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	defer func() { _ = file.Close() }()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if key, value, _ := strings.Cut(lines.Text(), ":"); strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

func (r Result) names() []string { return slices.Sorted(maps.Keys(r.Metrics)) }

// WriteTable writes all results, and at the end those that have a limit, before and now.
func (r Report) WriteTable(to io.Writer) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format, args...) } // Flush returns the first error.
	r.writeGrowth(line)
	r.writeColumns(line, "Latency, ms from", "ChangeTo",
		column{"record: p50", "p50-ms-from-record"}, column{"p95", "p95-ms-from-record"}, column{"p99", "p99-ms-from-record"},
		column{"due: p50", "p50-ms-from-due"}, column{"p95", "p95-ms-from-due"}, column{"p99", "p99-ms-from-due"},
		column{"begun late by", "max-ms-late"}, column{"cpu-s/1000", "cpu-s/1000"}, column{"load", "load"})
	r.writeColumns(line, "Order accepted to receiver, ms from", "AcceptedToReceiver/",
		column{"request: p50", "p50-ms-from-request"}, column{"p99", "p99-ms-from-request"},
		column{"record: p50", "p50-ms-from-record"}, column{"p99", "p99-ms-from-record"},
		column{"answer: p50", "p50-ms-from-answer"}, column{"p99", "p99-ms-from-answer"},
		column{"begun late by", "max-ms-late"}, column{"cpu-s/1000", "cpu-s/1000"}, column{"load", "load"})
	for _, quantile := range []string{"p50", "p99"} {
		r.writeColumns(line, "Hops of an order, "+quantile+" ms", "AcceptedToReceiver/",
			column{"request to record", quantile + "-ms-hop-recorded"}, column{"commit", quantile + "-ms-hop-committed"},
			column{"read by relay", quantile + "-ms-hop-published"}, column{"acknowledged (mean)", "mean-ms-hop-acknowledged"},
			column{"read by relay to fan-out", quantile + "-ms-hop-fanned-out"}, column{"sent", quantile + "-ms-hop-sent"},
			column{"received", quantile + "-ms-hop-received"})
	}
	r.writeColumns(line, "Cost of a change", "ChangeToReceiver/", append(parties("cpu-s/1000"),
		columns("statements/change", "commits/change", "flushes/change")...)...)
	r.writeColumns(line, "Request at a rate, ms from", "RequestsAtRate/",
		column{"due: p50", "p50-ms-from-due"}, column{"p95", "p95-ms-from-due"}, column{"p99", "p99-ms-from-due"},
		column{"max", "max-ms-from-due"}, column{"begun late by", "max-ms-late"}, column{"load", "load"})
	r.writeColumns(line, "Cost of a request", "CostOfRequest/", append(parties("µs"),
		columns("statements/request", "commits/request", "postgres-round-trips", "redis-round-trips", "grpc-calls")...)...)
	r.writeColumns(line, "Order placed", "PlaceOrder/", append(parties("cpu-ms-of-64"),
		column{"orders/s of 16", "edge-orders/s-of-16"}, column{"of 64", "edge-orders/s-of-64"},
		column{"of pgbench: 16", "edge/pgbench-of-16"}, column{"64", "edge/pgbench-of-64"},
		column{"in a pipeline: 16", "edge/pipeline-of-16"}, column{"64", "edge/pipeline-of-64"})...)
	r.writeColumns(line, "Programs", "Footprint/", columns("start-ms", "idle-MB", "loaded-MB", "binary-MB")...)
	line("\nMeasured\n")
	for _, result := range r.Results {
		if slices.ContainsFunc(tabled, func(prefix string) bool { return strings.HasPrefix(result.Benchmark, prefix) }) {
			continue
		}
		var all []string
		for _, metric := range result.names() {
			if metric != "ns/op" || result.Metrics[metric] != 0 {
				all = append(all, number(result.Metrics[metric])+" "+metric)
			}
		}
		line("  %s\t%s\n", result.Benchmark, strings.Join(all, ", "))
	}
	line("\n%s\n\n", r.Machine)
	r.writeOutcomes(line)
	return w.Flush()
}

// tabled are the prefixes of the benchmarks that have a table of their own.
var tabled = []string{"GrowthOf", "ChangeTo", "AcceptedToReceiver/", "RequestsAtRate/", "CostOfRequest/", "PlaceOrder/", "Footprint/"}

// writeOutcomes writes the results that have a limit. Sizes within their limits are only counted, and a goal that was not
// measured takes one line for all benchmarks, because a quick run leaves out many.
func (r Report) writeOutcomes(line func(string, ...any)) {
	line("Goals\t\tbefore, %s\tnow\tlimit\t\n", Earlier)
	growth, reached := 0, 0
	missing := map[string][]string{} // Benchmarks by goal and limit.
	for _, o := range r.Outcomes {
		if o.Reached {
			reached++
		}
		switch {
		case !o.Measured:
			missing[o.What+o.limit()] = append(missing[o.What+o.limit()], o.place())
		case o.Reached && strings.Contains(o.Metric, growthAt):
			growth++
		default:
			result := map[bool]string{true: "reached", false: "MISSED"}[o.Reached]
			line("  %s\t%s\t%s\t%s\t%s\t%s\n", o.What, o.place(), o.before(), number(o.Value), o.limit(), result)
		}
	}
	if growth > 0 {
		line("  slower than at the smallest size\twithin the limit: %d operations and sizes\t\t\t\treached\n", growth)
	}
	for _, o := range r.Outcomes {
		if places := missing[o.What+o.limit()]; len(places) > 0 {
			if more := len(places) - 1; more > 0 {
				places[0] = fmt.Sprintf("%s and %d more", places[0], more)
			}
			line("  %s\t%s\t%s\t-\t%s\tnot measured\n", o.What, places[0], o.before(), o.limit())
			delete(missing, o.What+o.limit())
		}
	}
	line("  %d of %d reached\n", reached, len(r.Outcomes))
}

// The middle parts of the metrics' names in the benchmarks of growth.
const (
	msAt     = "-ms-"
	growthAt = "-growth-"
)

// writeGrowth writes a table of operations by sizes.
func (r Report) writeGrowth(line func(string, ...any)) {
	for _, result := range r.Results {
		var operations, sizes []string
		for _, metric := range result.names() {
			operation, size, found := strings.Cut(metric, msAt)
			if !found || !strings.HasPrefix(result.Benchmark, "GrowthOf") {
				continue
			}
			operations, sizes = append(operations, operation), append(sizes, size)
		}
		if len(sizes) == 0 {
			continue
		}
		operations = slices.Compact(operations) // The metrics are sorted.
		slices.SortFunc(sizes, func(a, b string) int { return rows(a) - rows(b) })
		sizes = slices.Compact(sizes)
		line("\n%s", result.Benchmark)
		for _, size := range sizes {
			line("\tms at %s", size)
		}
		line("\tslower by\n")
		for _, operation := range operations {
			line("  %s", operation)
			for _, size := range sizes {
				line("\t%s", number(result.Metrics[operation+msAt+size]))
			}
			for _, size := range sizes[1:] {
				line("\t%s", number(result.Metrics[operation+growthAt+size]))
			}
			line("\n")
		}
	}
}

// rows reads a size such as 10k or 3M.
func rows(size string) int {
	n, _ := strconv.Atoi(strings.TrimRight(size, "kM")) // Written by the benchmark.
	if strings.HasSuffix(size, "M") {
		return n * 1_000_000
	}
	return n * 1_000
}

// column is a metric with its heading.
type column struct{ heading, metric string }

// columns have the names of their metrics.
func columns(metrics ...string) (all []column) {
	for _, metric := range metrics {
		all = append(all, column{metric, metric})
	}
	return all
}

// parties are the columns of a metric of processor time: all, and each party.
func parties(metric string) []column {
	all := []column{{metric, metric}}
	for _, party := range []string{"gateway", "orders", "events", "webhook", "tenants", "postgresql", "kafka", "redis"} {
		all = append(all, column{party, metric + "-" + party})
	}
	return all
}

// writeColumns writes a table of the benchmarks with a prefix.
func (r Report) writeColumns(line func(string, ...any), title, prefix string, columns ...column) {
	written := false
	for _, result := range r.Results {
		name, found := strings.CutPrefix(result.Benchmark, prefix)
		if !found {
			continue
		}
		if !written {
			written = true
			line("\n%s", title)
			for _, c := range columns {
				line("\t%s", c.heading)
			}
			line("\n")
		}
		line("  %s", name)
		for _, c := range columns {
			text := "-"
			if value, measured := result.Metrics[c.metric]; measured {
				text = number(value)
			}
			line("\t%s", text)
		}
		line("\n")
	}
}

// number has about three digits.
func number(n float64) string {
	switch {
	case n >= 100 || n == 0:
		return fmt.Sprintf("%.0f", n)
	case n >= 10:
		return fmt.Sprintf("%.1f", n)
	case n >= 0.1:
		return fmt.Sprintf("%.2f", n)
	default:
		return fmt.Sprintf("%.3f", n)
	}
}
