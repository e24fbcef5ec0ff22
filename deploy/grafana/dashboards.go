package grafana

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// All are the dashboards of the platform.
func All() []Dashboard {
	return []Dashboard{overview(), edge(), services(), delivery(), processes()}
}

// File is the name of the dashboard's file.
func (d Dashboard) File() string { return strings.TrimPrefix(d.UID, tag+"-") + ".json" }

// JSON is what stands in the file.
func (d Dashboard) JSON() ([]byte, error) {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(d); err != nil {
		return nil, fmt.Errorf("dashboard %s: %w", d.UID, err)
	}
	return []byte(out.String()), nil
}

// Write writes the files of all dashboards into a folder.
func Write(folder string) error {
	const mode = 0o644 // To be read by all.
	for _, d := range All() {
		text, err := d.JSON()
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, d.File()), text, mode); err != nil {
			return fmt.Errorf("dashboard %s: %w", d.UID, err)
		}
	}
	return nil
}
