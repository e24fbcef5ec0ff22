package service_test

import (
	"bytes"
	"context"
	"runtime/metrics"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/service"
	"github.com/partnergifting/platform/pkg/telemetry"
)

// resident returns the bytes that the heap has of the system, and has not given back.
func resident() uint64 {
	found := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/free:bytes"}}
	metrics.Read(found)
	return found[0].Value.Uint64() + found[1].Value.Uint64()
}

func TestTheGarbageOfTheStartIsGivenBack(t *testing.T) {
	t.Setenv("GIFTING_DATABASE_URL", "postgres://127.0.0.1:1/none")
	const garbage = 256 << 20
	var began uint64
	program := service.Program[config]{
		Name: "example", Telemetry: func(cfg config) telemetry.Config { return cfg.Telemetry },
		New: func(ctx context.Context, _ config, tel *telemetry.Telemetry) (*service.Service, error) {
			rubbish := bytes.Repeat([]byte{1}, garbage)
			require.GreaterOrEqual(t, resident(), uint64(len(rubbish)))
			return service.New(ctx, service.Config{Telemetry: tel, NoServer: true}, func(s *service.Service) error {
				s.Add(daemon.Part{Name: "measuring", Run: func(ctx context.Context) error {
					began = resident()
					return stopProcess(ctx)
				}})
				return nil
			})
		},
	}
	var out bytes.Buffer
	require.Zero(t, program.Main([]string{"example", "serve"}, &out), out.String())
	require.Less(t, began, uint64(garbage/2))
}
