package daemon_test

import (
	"bytes"
	"context"
	"runtime/metrics"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/telemetry"
)

// resident returns the bytes that the heap has of the system, and has not given back.
func resident() uint64 {
	found := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/free:bytes"}}
	metrics.Read(found)
	return found[0].Value.Uint64() + found[1].Value.Uint64()
}

type measuring struct{ began *uint64 }

func (m measuring) Run(context.Context) error {
	*m.began = resident()
	return nil
}

func TestTheGarbageOfTheStartIsGivenBack(t *testing.T) { //nolint:paralleltest // It measures the process.
	const garbage = 256 << 20
	var began uint64
	program := daemon.Program[config, measuring]{
		Name: "example", Telemetry: func(cfg config) telemetry.Config { return cfg.Telemetry },
		New: func(context.Context, config, *telemetry.Telemetry) (measuring, error) {
			rubbish := bytes.Repeat([]byte{1}, garbage)
			require.GreaterOrEqual(t, resident(), uint64(len(rubbish)))
			return measuring{&began}, nil
		},
	}
	var out bytes.Buffer
	require.Zero(t, daemon.RunProgram([]string{"example", "serve"}, &out, program), out.String())
	require.Less(t, began, uint64(garbage/2))
}
