package settings_test

import (
	"errors"
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
	t.Parallel()
	var cfg config
	require.ErrorContains(t, settings.Load(&cfg), "GIFTING_DATABASE_URL")
}

// pair has a rule of its own for its two fields.
type pair struct {
	Low  int    `env:"LOW" envDefault:"1" check:"min=1"`
	High int    `env:"HIGH" envDefault:"2"`
	Form string `env:"FORM,required" doc:"Its form."`
}

var errOrder, errForm = errors.New("must be above GIFTING_LOW"), errors.New("is no form")

func (p pair) Validate() error {
	var order, form error
	if p.High <= p.Low {
		order = errOrder
	}
	if p.Form != "round" {
		form = errForm
	}
	return errors.Join(settings.Invalid("HIGH", order), settings.Invalid("FORM", form))
}

func TestAllErrorsAreReportedAtOnce(t *testing.T) {
	t.Setenv("GIFTING_TIMEOUT", "soon")
	t.Setenv("GIFTING_LOW", "7")
	var cfg struct {
		Config config
		Pair   pair
	}
	err := settings.Load(&cfg)
	require.ErrorIs(t, err, errOrder)
	require.EqualError(t, err, `configuration:
  GIFTING_TIMEOUT: "soon" is not a duration such as 500ms, 90s or 24h
  GIFTING_DATABASE_URL: is required: Where the database is.
  GIFTING_FORM: is required: Its form.
  GIFTING_HIGH: must be above GIFTING_LOW`, "what follows from a missing value is not reported")

	t.Setenv("GIFTING_HIGH", "many")
	t.Setenv("GIFTING_FORM", "square")
	t.Setenv("GIFTING_TIMEOUT", "5s")
	t.Setenv("GIFTING_DATABASE_URL", "postgres://x")
	require.EqualError(t, settings.Load(&cfg), `configuration:
  GIFTING_HIGH: "many" is not a whole number, or too large
  GIFTING_FORM: is no form`)
}

func TestUnknownVariablesAreNamed(t *testing.T) {
	t.Parallel()
	environment := []string{"GIFTING_ADDR=x", "GIFTING_DATABSE_URL=y", "PATH=/bin", "GIFTING_ADDRESS="}
	require.Equal(t, []string{"GIFTING_ADDRESS", "GIFTING_DATABSE_URL"}, settings.Unknown(&config{}, environment))
	require.Empty(t, settings.Unknown(&config{}, environment[:1]))
}

func TestFieldsSayWhatAValueIs(t *testing.T) {
	t.Parallel()
	fields, err := settings.Fields(&settingsWithRules{})
	require.NoError(t, err)
	formats := map[string]string{}
	for _, f := range fields {
		formats[f.Variable] = f.Format
	}
	require.Equal(t, "host:port", formats["GIFTING_LISTEN"])
	require.Equal(t, "URL postgres://… or postgresql://…", formats["GIFTING_URL"])
	require.Equal(t, "duration, at least 1s, at most 1h", formats["GIFTING_WAIT"])
	require.Equal(t, "base64 of 4 bytes or more, several separated by commas", formats["GIFTING_KEY"])
	require.True(t, fields[3].Secret)
}

func TestDescribeListsEveryVariable(t *testing.T) {
	t.Parallel()
	text, err := settings.Describe(&config{})
	require.NoError(t, err)
	require.Regexp(t, `GIFTING_ADDR +127.0.0.1:9000 +Where to listen.`, text)
	require.Regexp(t, `GIFTING_DATABASE_URL +required +Where the database is.`, text)
}

func TestDefaultsFillWhatIsNotSet(t *testing.T) {
	t.Parallel()
	type inner struct {
		Size  int32         `env:"SIZE" envDefault:"16" check:"min=1"`
		Delay time.Duration `env:"DELAY" envDefault:"5s" check:"min=0s"`
		URL   string        `env:"URL,required"`
	}
	type outer struct {
		Name  string        `env:"NAME" envDefault:"gifting" check:"oneof=gifting|other"`
		Keep  time.Duration `env:"KEEP" envDefault:"720h"`
		Inner inner         `envPrefix:"INNER_"`
		Other int
	}
	var cfg outer
	require.NoError(t, settings.Defaults(&cfg))
	require.Equal(t, outer{Name: "gifting", Keep: 720 * time.Hour, Inner: inner{Size: 16}}, cfg, "a delay may be zero")

	set := outer{Name: "other", Keep: time.Hour, Inner: inner{Size: 1, Delay: time.Second}}
	same := set
	require.NoError(t, settings.Defaults(&same))
	require.Equal(t, set, same)
}

func TestDefaultsThatCannotBeReadAreReported(t *testing.T) {
	t.Parallel()
	require.Error(t, settings.Defaults(config{}), "not a pointer")
	require.ErrorContains(t, settings.Defaults(&struct {
		Keep time.Duration `env:"KEEP" envDefault:"soon"`
	}{}), "GIFTING_KEEP")
}
