// Package broken has benchmarks of which each ends in another way.
package broken

import (
	"testing"
	"time"
)

func BenchmarkFails(b *testing.B) {
	b.Run("first", func(b *testing.B) { b.ReportMetric(1, "MB") })
	b.Run("second", func(b *testing.B) { b.Fatal("too slow") })
}

func BenchmarkHangs(*testing.B) { <-time.After(time.Hour) }

func BenchmarkPanics(*testing.B) { panic("no platform") }

func BenchmarkWorks(b *testing.B) { b.ReportMetric(2, "MB") }
