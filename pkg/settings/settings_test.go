package settings_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/settings"
)

type database struct {
	URL string `env:"URL,required" doc:"Where the database is."`
}

type config struct {
	Addr     string        `env:"ADDR" envDefault:"127.0.0.1:9000" doc:"Where to listen."`
	Timeout  time.Duration `env:"TIMEOUT" envDefault:"5s"`
	Database database      `envPrefix:"DATABASE_"`
}

func TestConfigurationComesFromTheEnvironment(t *testing.T) {
	t.Setenv("GIFTING_DATABASE_URL", "postgres://x")
	var cfg config
	require.NoError(t, settings.Load(&cfg))
	require.Equal(t, config{Addr: "127.0.0.1:9000", Timeout: 5 * time.Second, Database: database{URL: "postgres://x"}}, cfg)
}

func TestAMissingRequiredVariableIsNamed(t *testing.T) {
	var cfg config
	require.ErrorContains(t, settings.Load(&cfg), "GIFTING_DATABASE_URL")
}

func TestDescribeListsEveryVariable(t *testing.T) {
	text, err := settings.Describe(&config{})
	require.NoError(t, err)
	require.Regexp(t, `GIFTING_ADDR +127.0.0.1:9000 +Where to listen.`, text)
	require.Regexp(t, `GIFTING_DATABASE_URL +required +Where the database is.`, text)
}
