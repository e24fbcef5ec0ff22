// Command scale reckons from a report of the benchmarks what ten, a hundred and ten thousand times a small load ask of
// each part, and simulates how old a change gets on its way through the relay. It prints the tables of
// deploy/bench/scale.md.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"time"

	"github.com/partnergifting/platform/deploy/bench/report"
	"github.com/partnergifting/platform/deploy/bench/scale"
	"github.com/partnergifting/platform/pkg/outbox"
)

func main() {
	from := flag.String("report", ".local/bench/report.json", "report of make bench")
	flag.Parse()
	if err := run(*from); err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

func run(from string) error {
	text, err := os.ReadFile(from) //nolint:gosec // The report that the caller names.
	if err != nil {
		return err
	}
	var made report.Report
	if err := json.Unmarshal(text, &made); err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	units, err := scale.UnitsOf(made)
	if err != nil {
		return err
	}
	printNeeds(units)
	fmt.Println()
	printAges(units)
	return nil
}

// today is the load that the others are so many times as large as.
func today() scale.Load {
	return scale.Load{
		Name: "1×", Tenants: 50, LargestShare: 0.3, Orders: 0.5, Changes: 1.5, Reads: 5, Polls: 5, Endpoints: 50, BusyHours: 8,
	}
}

func printNeeds(units scale.Units) {
	one := today()
	loads := []scale.Load{one, one.Times("10×", 10), one.Times("100×", 100), one.Times("10,000×", 10_000)}
	fmt.Print("| what | given |")
	for _, l := range loads {
		fmt.Printf(" %s |", l.Name)
	}
	fmt.Print(" carries up to | what carries more |\n| --- | --- |")
	for range loads {
		fmt.Print(" --- |")
	}
	fmt.Println(" --- | --- |")
	for part, need := range scale.Needs(units, one) {
		fmt.Printf("| %s | %s %s |", need.Part, figure(need.Given), need.Unit)
		for _, l := range loads {
			fmt.Printf(" %s |", figure(scale.Needs(units, l)[part].Asked))
		}
		fmt.Printf(" %s× | %s |\n", figure(scale.Carries(units, one, part)), need.Remedy)
	}
	fmt.Print("| all programs, idle ones too | any number of cores |")
	for _, l := range loads {
		fmt.Printf(" %s |", figure(scale.Instances(units, l)))
	}
	fmt.Println(" | more instances |")
	fmt.Print("| cells | |")
	for _, l := range loads {
		fmt.Printf(" %s |", figure(scale.Cells(units, l)))
	}
	fmt.Println(" | |")
	fmt.Printf("\nSmall rounds take up to %s cores of programs and broker and %s of PostgreSQL in a deployment.\n",
		figure(units.SmallRounds), figure(units.SmallRoundsInDatabase))
	for _, l := range loads {
		first := scale.First(scale.Needs(units, l))
		fmt.Printf("\n%s: %s is asked for most, %s times what it gives.", l.Name, first.Part, figure(first.Share()))
	}
	fmt.Println()
}

func printAges(units scale.Units) {
	const (
		round = 3 * time.Millisecond // The round trips of a round: a clock, two reads, the broker, two deletions.
		batch = 500                  // The default of GIFTING_OUTBOX_BATCH_SIZE.
	)
	relay := scale.Relay{
		Pause: outbox.PollDelay, Round: round, Most: batch,
		PerChange: time.Duration(float64(time.Second)/units.RelayPerSecond) - round/batch,
	}
	fmt.Println("| of the relay's throughput | changes/s | p50 ms | p99 ms |\n| --- | --- | --- | --- |")
	for _, part := range []float64{.1, .3, .5, .7, .9, .97, 1.05} {
		perSecond := part * units.RelayPerSecond
		ages := relay.Ages(rand.New(rand.NewPCG(1, 1)), perSecond, time.Minute) //nolint:gosec // Chance, not a secret.
		fmt.Printf("| %.0f %% | %.0f | %.1f | %.1f |\n", part*100, perSecond, ms(scale.At(ages, .5)), ms(scale.At(ages, .99)))
	}
}

// figure has two digits that say something.
func figure(n float64) string {
	const large = 1e6
	switch {
	case n >= large:
		return fmt.Sprintf("over %d million", int(n/large))
	case n >= 99.5:
		digits := math.Pow(10, math.Floor(math.Log10(n))-1)
		return fmt.Sprintf("%.0f", math.Round(n/digits)*digits)
	default:
		return fmt.Sprintf("%.2g", n)
	}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
