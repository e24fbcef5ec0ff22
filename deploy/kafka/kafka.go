// Package kafka contains the Maven project file that pins the version of Apache Kafka for tests.
package kafka

import (
	_ "embed" // the pom
	"encoding/xml"
	"errors"
	"fmt"
)

// POM is the project file: its dependencies are the jars.
//
//go:embed pom.xml
var POM []byte

// MinJava is the oldest Java that the version in the pom runs on.
const MinJava = 17

// Version is the Kafka version that the pom pins.
func Version() (string, error) {
	var project struct {
		Version string `xml:"properties>kafka.version"`
	}
	if err := xml.Unmarshal(POM, &project); err != nil {
		return "", fmt.Errorf("read pom: %w", err)
	}
	if project.Version == "" {
		return "", errors.New("read pom: no kafka.version")
	}
	return project.Version, nil
}
