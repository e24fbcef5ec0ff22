package telemetry

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// exports says which signals leave by OTLP.
type exports struct {
	traces, metrics, logs bool
}

// samplers are the values of OTEL_TRACES_SAMPLER that the SDK knows.
func samplers() []string {
	return []string{
		"", "always_on", "always_off", "traceidratio",
		"parentbased_always_on", "parentbased_always_off", "parentbased_traceidratio",
	}
}

// readExports reads the standard variables. What the SDK would pass over in silence is an error: a
// misspelt value must not be found out by missing spans.
func readExports() (out exports, err error) {
	if err := checkSampler(); err != nil {
		return out, err
	}
	for _, signal := range []struct {
		name string
		on   *bool
	}{{"TRACES", &out.traces}, {"METRICS", &out.metrics}, {"LOGS", &out.logs}} {
		if *signal.on, err = leaves(signal.name); err != nil {
			return exports{}, err
		}
	}
	return out, nil
}

func checkSampler() error {
	sampler, argument := standard("OTEL_TRACES_SAMPLER"), standard("OTEL_TRACES_SAMPLER_ARG")
	if !slices.Contains(samplers(), sampler) {
		return fmt.Errorf("OTEL_TRACES_SAMPLER: %q is no sampler of %s", sampler, strings.Join(samplers()[1:], ", "))
	}
	if argument == "" || !strings.HasSuffix(sampler, "traceidratio") {
		return nil
	}
	// The SDK would record all traces instead.
	if ratio, err := strconv.ParseFloat(argument, 64); err != nil || !(ratio >= 0 && ratio <= 1) {
		return fmt.Errorf("OTEL_TRACES_SAMPLER_ARG: %q is no number from 0 to 1", argument)
	}
	return nil
}

func leaves(signal string) (bool, error) {
	switch exporter := standard("OTEL_" + signal + "_EXPORTER"); exporter {
	case "none":
		return false, nil
	case "", "otlp":
	default:
		return false, fmt.Errorf("OTEL_%s_EXPORTER: %q is neither otlp nor none", signal, exporter)
	}
	if standard("OTEL_SDK_DISABLED") == "true" || otlp(signal, "ENDPOINT") == "" {
		return false, nil
	}
	if protocol := otlp(signal, "PROTOCOL"); protocol != "" && protocol != "grpc" {
		return false, fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL: %q is not supported, only grpc is", protocol)
	}
	return true, nil
}

// otlp is a setting of a signal, or else that of all signals.
func otlp(signal, setting string) string {
	if own := standard("OTEL_EXPORTER_OTLP_" + signal + "_" + setting); own != "" {
		return own
	}
	return standard("OTEL_EXPORTER_OTLP_" + setting)
}

// standard reads a variable as the specification of OpenTelemetry has it: without regard to case.
func standard(name string) string { return strings.ToLower(strings.TrimSpace(os.Getenv(name))) }
