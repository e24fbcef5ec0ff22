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
	// resultLine is a result; the number after the name counts processors.
	resultLine = regexp.MustCompile(`^Benchmark(\S+?)(?:-\d+)?\s+\d+\s+(.+)$`)
	// unnamedLine is a result whose name was printed earlier, because the benchmark logged in between.
	unnamedLine = regexp.MustCompile(`^\s+\d+\t\s*([-+0-9].*)$`)
	nameLine    = regexp.MustCompile(`^Benchmark(\S+?)(?:-\d+)?\s*$`)
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
		if found := nameLine.FindStringSubmatch(text); found != nil {
			last = found[1]
			continue
		}
		var benchmark, numbers string
		if found := resultLine.FindStringSubmatch(text); found != nil {
			benchmark, numbers = found[1], found[2]
		} else if found := unnamedLine.FindStringSubmatch(text); found != nil && last != "" {
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
	// Kafka is the kind of broker that benchmarks with a deployed platform use. The others run an embedded broker.
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
		"Kafka %s, an embedded one in the process for …/one-process, Tracing, BatchOfLinks and GrowthOf…",
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

// WriteTable writes the goals with their results.
func (r Report) WriteTable(to io.Writer) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format, args...) } // Flush returns the first error.
	line("\n%s\n\nGoals\t\tresult\tlimit\t\n", r.Machine)
	reached := 0
	for _, o := range r.Outcomes {
		value, verdict := number(o.Value), "MISSED"
		switch {
		case !o.Measured:
			value, verdict = "-", "not measured"
		case o.Reached:
			verdict = "reached"
			reached++
		}
		line("  %s\t%s %s\t%s\t%s\t%s\n", o.What, o.Benchmark, o.Metric, value, o.limit(), verdict)
	}
	line("  %d of %d reached\n", reached, len(r.Outcomes))
	return w.Flush()
}

// number writes n with about three digits.
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
