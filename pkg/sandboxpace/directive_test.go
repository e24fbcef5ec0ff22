package sandboxpace_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/sandboxpace"
)

func TestADirectiveIsRead(t *testing.T) {
	t.Parallel()
	for reference, want := range map[string]*sandboxpace.Directive{
		"":                                   nil,
		"player-7":                           nil,
		"Sandbox:auto":                       nil,
		" sandbox:auto":                      nil,
		"x sandbox:auto":                     nil,
		"sandbox:":                           nil,
		"sandbox:auto":                       {Pace: 2 * time.Second},
		"sandbox:auto=10s":                   {Pace: 10 * time.Second},
		"sandbox:auto=3600s":                 {Pace: time.Hour},
		"sandbox:auto=60m":                   {Pace: time.Hour},
		"sandbox:auto=1h":                    {Pace: time.Hour},
		"sandbox:auto,stop=SENT":             {Pace: 2 * time.Second, Stop: "SENT"},
		"sandbox:auto=1s,stop=COMPLETED":     {Pace: time.Second, Stop: "COMPLETED"},
		"sandbox:auto player-7":              {Pace: 2 * time.Second},
		"sandbox:auto=5s,stop=SENT é =9s\nx": {Pace: 5 * time.Second, Stop: "SENT"},
	} {
		got, err := sandboxpace.Parse(reference, "SENT", "COMPLETED")
		require.NoError(t, err, reference)
		require.Equal(t, want, got, reference)
	}
}

func TestAMalformedDirectiveIsRefused(t *testing.T) {
	t.Parallel()
	for _, reference := range []string{
		"sandbox:automatic", "sandbox:auto=", "sandbox:auto=10", "sandbox:auto=0s", "sandbox:auto=3601s", "sandbox:auto=-1s",
		"sandbox:auto=01s",
		"sandbox:auto=61m", "sandbox:auto=2h", "sandbox:auto=1d", "sandbox:auto=1.5s", "sandbox:auto=99999999999999999999s",
		"sandbox:auto,stop=", "sandbox:auto,stop=sent",
		"sandbox:auto,stop=ACTIVE", "sandbox:auto,stop=SENT=10s", "sandbox:auto,stop=SENT,stop=SENT", "sandbox:auto,", "sandbox:auto:7",
		"sandbox:auto" + strings.Repeat("=1s", 9),
	} {
		got, err := sandboxpace.Parse(reference, "SENT", "COMPLETED")
		require.ErrorIs(t, err, sandboxpace.ErrDirective, reference)
		require.Nil(t, got)
		require.NotContains(t, err.Error(), "\n")
	}
}
