package report

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Report is one run of the benchmarks.
type Report struct {
	At      time.Time `json:"at"`
	Version string    `json:"version"`
	// Machine is the one it ran on.
	Machine  Machine   `json:"machine"`
	Results  []Result  `json:"results"`
	Outcomes []Outcome `json:"outcomes"`
}

// Write writes the report as JSON and as plots into a folder.
func (r Report) Write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // The report is no secret.
		return fmt.Errorf("folder of the report: %w", err)
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	files := map[string][]byte{"report.json": append(text, '\n')}
	for name, plot := range r.plots() {
		files[name] = []byte(plot)
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil { //nolint:gosec // As the folder.
			return fmt.Errorf("report: %w", err)
		}
	}
	return nil
}
