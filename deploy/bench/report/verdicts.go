package report

import (
	"fmt"
	"strings"
)

// writeJudged writes what stands against a limit. Sizes within theirs are only counted, and what was not measured takes one
// line for all places, as a quick run leaves out many.
func (r Report) writeJudged(line func(string, ...any)) {
	line("Against the limits\n")
	growth, reached := 0, 0
	missing := map[string][]string{} // Places by what is measured there.
	for _, j := range r.Judged {
		if j.Reached {
			reached++
		}
		switch {
		case !j.Measured:
			missing[j.What] = append(missing[j.What], j.place())
		case j.Reached && strings.Contains(j.Metric, growthAt):
			growth++
		default:
			line("  %s\t%s\t%s\t%s %s\t%s\n", j.What, j.place(), number(j.Seen), j.sign(), number(j.Limit), j.verdict())
		}
	}
	if growth > 0 {
		line("  slower than at the smallest size\twithin the limit: %d operations and sizes\t\t\treached\n", growth)
	}
	for _, j := range r.Judged {
		if places := missing[j.What]; len(places) > 0 {
			line("  %s\t%s\t-\t%s %s\tnot measured\n", j.What, firstOf(places), j.sign(), number(j.Limit))
			delete(missing, j.What)
		}
	}
	line("  %d of %d reached\n", reached, len(r.Judged))
}

func firstOf(places []string) string {
	if len(places) == 1 {
		return places[0]
	}
	return fmt.Sprintf("%s and %d more", places[0], len(places)-1)
}

// place is where it was seen. What was not has no metric to name where its goal holds for many.
func (j Judged) place() string {
	if strings.Contains(j.Metric, "*") {
		return j.Benchmark
	}
	if strings.Contains(j.Benchmark, "/") || strings.Contains(j.Metric, growthAt) {
		return j.Benchmark + " " + strings.Replace(j.Metric, growthAt, " at ", 1)
	}
	return j.Benchmark
}

func (j Judged) sign() string {
	if j.Least {
		return "≥"
	}
	return "≤"
}

func (j Judged) verdict() string {
	if j.Reached {
		return "reached"
	}
	return "MISSED"
}
