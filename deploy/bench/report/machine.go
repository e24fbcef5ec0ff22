package report

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Machine describes where the benchmarks ran.
type Machine struct {
	Processor string `json:"processor"`
	Cores     int    `json:"cores"`
	// Load is the average number of runnable processes in the minute before the run.
	Load       string `json:"load"`
	Go         string `json:"go"`
	PostgreSQL string `json:"postgresql"`
	// Fsync off favours whatever writes to PostgreSQL most directly.
	Fsync string `json:"fsync"`
	// Kafka is the kind that the benchmarks of delivery and programs use. The others run an embedded broker.
	Kafka string `json:"kafka"`
}

// Here describes this machine and the server at the URL.
func Here(ctx context.Context, server, kafka string) (Machine, error) {
	m := Machine{Cores: runtime.NumCPU(), Go: runtime.Version(), Kafka: kafka, Processor: processor()}
	load, _ := os.ReadFile("/proc/loadavg") // Of Linux.
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
		"Kafka %s for ChangeTo…, BesideBadEndpoints, BacklogOf… and Footprint, an embedded one in the process for all others",
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
