// Command bench runs the benchmarks of the platform one after another and makes one report: a table on the terminal, and JSON
// in a folder. `make bench` runs it on its own servers.
//
// It fails if a benchmark fails, but not if a limit is missed, because a busy machine can cause that.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/partnergifting/platform/deploy/tests/bench/report"
)

// profilesFolder tells the benchmarks where to write profiles.
const profilesFolder = "GIFTING_BENCH_PROFILES"

// The variables that testdeps sets.
const (
	postgresURL  = "GIFTING_TEST_POSTGRES_URL"
	kafkaBrokers = "GIFTING_TEST_KAFKA_BROKERS"
	kafkaKind    = "GIFTING_TEST_KAFKA_KIND"
)

func main() {
	var s suite
	flag.BoolVar(&s.quick, "quick", false, "fewer iterations and smaller sizes")
	flag.StringVar(&s.dir, "out", ".local/bench", "folder of the report")
	flag.StringVar(&s.only, "bench", ".", "which benchmarks, as of go test -bench")
	flag.DurationVar(&s.limit, "limit", 8*time.Minute, "how long one benchmark may take")
	profiled := flag.Bool("profile", false, "write profiles of the programs' processor time into the folder")
	flag.Parse()
	ctx, release := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer release()
	if err := run(ctx, s, *profiled); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1) //nolint:gocritic // Nothing is left to release.
	}
}

func run(ctx context.Context, s suite, profiled bool) error {
	began := time.Now()
	profiles, err := filepath.Abs(filepath.Join(s.dir, "profiles"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(profiles, 0o755); err != nil { //nolint:gosec // The report is no secret.
		return err
	}
	if profiled {
		if err := os.Setenv(profilesFolder, profiles); err != nil {
			return err
		}
	}
	made := report.Report{At: began.UTC().Truncate(time.Second), Version: version(ctx)}
	made.Machine, err = report.Here(ctx, os.Getenv(postgresURL), os.Getenv(kafkaKind))
	if err != nil {
		return err
	}
	if s.built, err = os.MkdirTemp("", "gifting-bench-"); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(s.built) }()
	if !s.quick {
		if err := warmBroker(ctx, os.Getenv(kafkaBrokers)); err != nil {
			return err
		}
	}
	var failed error
	made.Results, failed = s.run(ctx)
	made.Outcomes = report.Compare(made.Results, report.Goals())
	if err := made.Write(s.dir); err != nil {
		return err
	}
	fmt.Printf("\nIn %s; report.json and the output of every benchmark are in %s\n", time.Since(began).Round(time.Second), s.dir)
	return errors.Join(made.WriteTable(os.Stdout), failed)
}

// version is the version of the sources, from git.
func version(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "git", "describe", "--tags", "--always", "--dirty").Output()
	if err != nil {
		return "development"
	}
	return strings.TrimSpace(string(out))
}
