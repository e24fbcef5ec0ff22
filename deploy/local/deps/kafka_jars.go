package deps

import (
	"bytes"
	"context"
	_ "embed" // The project file.
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"time"
)

// pom is the project file of Maven: its dependencies are the jars, in a pinned version.
//
//go:embed pom.xml
var pom []byte

// minJava is the oldest Java that this version runs on.
const minJava = 17

// mavenTimeout bounds the download of the jars, 45 MB.
const mavenTimeout = 4 * time.Minute

// findApacheKafka finds Java and the jars, fetching these once with Maven.
func findApacheKafka(ctx context.Context, cfg KafkaConfig) (apacheKafka, error) {
	java, err := exec.LookPath("java")
	if err != nil {
		return apacheKafka{}, err
	}
	if err := requireJava(ctx, java); err != nil {
		return apacheKafka{}, err
	}
	root, err := filepath.Abs(cfg.JarsDir)
	if err != nil {
		return apacheKafka{}, err
	}
	libs, err := ensureJars(ctx, cfg, root)
	if err != nil {
		return apacheKafka{}, err
	}
	return apacheKafka{java: java, libs: libs}, nil
}

var (
	errOldJava     = errors.New("Apache Kafka needs a newer Java") //nolint:staticcheck // It begins with a name.
	errUnknownJava = errors.New("the version of Java is unknown")
	errNoVersion   = errors.New("read pom: no kafka.version")
	javaVersion    = regexp.MustCompile(`version "(\d+)`)
)

func requireJava(ctx context.Context, java string) error {
	output, err := exec.CommandContext(ctx, java, "-version").CombinedOutput()
	if err != nil {
		return fmt.Errorf("java -version: %w", err)
	}
	found := javaVersion.FindSubmatch(output)
	if found == nil {
		return fmt.Errorf("%w: %s", errUnknownJava, bytes.TrimSpace(output))
	}
	version, err := strconv.Atoi(string(found[1]))
	if err != nil || version < minJava {
		return fmt.Errorf("%w: %d, wanted %d", errOldJava, version, minJava)
	}
	return nil
}

// ensureJars returns the directory of the jars that the pinned pom names, and fetches them first if they are not there. A stamp
// with the pom's text marks a complete directory. One process at a time fetches; the others wait.
func ensureJars(ctx context.Context, cfg KafkaConfig, root string) (string, error) {
	version, err := pinnedVersion()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, version)
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return "", err
	}
	held, err := lock(filepath.Join(dir, "lock"), syscall.LOCK_EX)
	if err != nil {
		return "", err
	}
	defer func() { _ = held.Close() }()
	libs, stamp := filepath.Join(dir, "libs"), filepath.Join(dir, "complete")
	stamped, err := os.ReadFile(filepath.Clean(stamp))
	if err == nil && bytes.Equal(stamped, pom) {
		return libs, nil
	}
	cfg.Log.Info("fetching Apache Kafka with Maven", "version", version)
	if err := fetchJars(ctx, dir, libs); err != nil {
		return "", err
	}
	return libs, os.WriteFile(stamp, pom, 0o600)
}

// pinnedVersion is the version of Kafka in the project file.
func pinnedVersion() (string, error) {
	var project struct {
		Version string `xml:"properties>kafka.version"`
	}
	if err := xml.Unmarshal(pom, &project); err != nil {
		return "", fmt.Errorf("read pom: %w", err)
	}
	if project.Version == "" {
		return "", errNoVersion
	}
	return project.Version, nil
}

func fetchJars(ctx context.Context, dir, libs string) error {
	mvn, err := exec.LookPath("mvn")
	if err != nil {
		return err
	}
	if err := os.RemoveAll(libs); err != nil {
		return err
	}
	file := filepath.Join(dir, "pom.xml")
	if err := os.WriteFile(file, pom, 0o600); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, mavenTimeout)
	defer cancel()
	//nolint:gosec // The Maven that was found.
	cmd := exec.CommandContext(ctx, mvn, "-q", "-B", "-f", file, "dependency:copy-dependencies", "-DoutputDirectory="+libs)
	cmd.WaitDelay = time.Second // A child process of Maven keeps the pipe open after Maven is killed.
	output, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("mvn: %w\n%s", err, output)
	}
	return nil
}
