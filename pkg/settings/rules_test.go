package settings_test

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/settings"
)

type settingsWithRules struct {
	Listen  string        `env:"LISTEN" check:"listen"`
	Peers   string        `env:"PEERS" check:"hostports"`
	Brokers []string      `env:"BROKERS" check:"hostports"`
	URL     string        `env:"URL" check:"url=postgres|postgresql" secret:"true"`
	Web     string        `env:"WEB" check:"web"`
	Proxies []string      `env:"PROXIES" check:"networks"`
	Key     string        `env:"KEY" check:"base64=4" secret:"true"`
	Zone    string        `env:"ZONE" check:"zone"`
	Wait    time.Duration `env:"WAIT" check:"min=1s,max=1h"`
	Count   int32         `env:"COUNT" check:"min=1"`
	Word    string        `env:"WORD" check:"oneof=production|sandbox"`
	Flag    bool          `env:"FLAG"`
	Level   slog.Level    `env:"LEVEL"`
}

func TestRules(t *testing.T) {
	for name, tc := range map[string]struct {
		good, bad []string
		says      string
	}{
		"LISTEN": {
			[]string{":9000", "127.0.0.1:0", "[::1]:9000"}, []string{"9000", "host", "host:http", "host:65536", "a,b:1"}, "host:port",
		},
		"PEERS": {
			[]string{"orders:9000", "127.0.0.1:1,127.0.0.1:2", "[::1]:1"},
			[]string{":9000", "orders", "orders:0", "orders:1,", "http://orders:1"},
			"host:port",
		},
		"BROKERS": {[]string{"k1:9092", "k1:9092, k2:9092"}, []string{"k1", "k1:9092,k2"}, "host:port"},
		"URL": {
			[]string{"postgres://h/db", "postgresql://u:p@h1:1,h2:2/db?x=y"}, []string{"h/db", "mysql://h/db", "postgres://"}, "postgres://",
		},
		"WEB": {
			[]string{"https://api.example.com/v1", "http://127.0.0.1:8080"},
			[]string{"api.example.com", "ftp://h", "https://", "https://h/?q", "https://h/#f", "https://u:p@h"},
			"http",
		},
		"PROXIES": {[]string{"10.0.0.0/8,::1", "127.0.0.1"}, []string{"10.0.0.0/33", "proxy", "10.0.0.1,"}, "IP addresses"},
		"KEY": {
			[]string{"YWJjZA==", "YWJjZGVm", "YWJjZA==, YWJjZGVm"}, []string{"YWJj", "abcd!", "YWJjZA==,YWJj", "YWJjZA==,"}, "base64",
		},
		"ZONE":  {[]string{"UTC", "Europe/Stockholm"}, []string{"Europe/Visby"}, "time zone"},
		"WAIT":  {[]string{"1s", "1h"}, []string{"999ms", "1h1s", "-5s", "10", "soon"}, ""},
		"COUNT": {[]string{"1", "2147483647"}, []string{"0", "-1", "2147483648", "1.5", "many"}, ""},
		"WORD":  {[]string{"production", "sandbox"}, []string{"staging", "Production"}, "production, sandbox"},
		"FLAG":  {[]string{"true", "false", "1"}, []string{"yes"}, "true nor false"},
		"LEVEL": {[]string{"DEBUG", "warn"}, []string{"LOUD"}, "not understood"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, value := range tc.good {
				t.Setenv("GIFTING_"+name, value)
				require.NoError(t, settings.Load(&settingsWithRules{}), value)
			}
			for _, value := range tc.bad {
				t.Setenv("GIFTING_"+name, value)
				err := settings.Load(&settingsWithRules{})
				invalid, ok := errors.AsType[*settings.VariableError](err)
				require.True(t, ok, "%s: %v", value, err)
				require.Equal(t, "GIFTING_"+name, invalid.Variable)
				require.ErrorContains(t, err, tc.says)
			}
		})
	}
}

func TestAnEmptyVariableIsNotSet(t *testing.T) {
	t.Setenv("GIFTING_LISTEN", "")
	t.Setenv("GIFTING_ADDR", "")
	t.Setenv("GIFTING_DATABASE_URL", "postgres://x")
	require.NoError(t, settings.Load(&settingsWithRules{}))
	var cfg config
	require.NoError(t, settings.Load(&cfg))
	require.Equal(t, "127.0.0.1:9000", cfg.Addr)
}

func TestASecretIsNotRepeated(t *testing.T) {
	t.Setenv("GIFTING_URL", "mysql://user:hunter2@h/db")
	t.Setenv("GIFTING_KEY", "hunter2")
	t.Setenv("GIFTING_ZONE", "Europe/Visby")
	err := settings.Load(&settingsWithRules{})
	require.ErrorContains(t, err, "GIFTING_URL")
	require.ErrorContains(t, err, "GIFTING_KEY")
	require.ErrorContains(t, err, `"Europe/Visby"`)
	require.NotContains(t, err.Error(), "hunter2")
}

func TestTagsThatMeanNothingAreRefused(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]any{
		"a rule": &struct {
			A string `env:"A" check:"purple"`
		}{},
		"an option": &struct {
			A string `env:"A,maybe"`
		}{},
		"a bound": &struct {
			A int `env:"A" check:"min=low"`
		}{},
		"a type": &struct {
			A map[string]int `env:"A"`
		}{},
		"not a pointer": settingsWithRules{},
	} {
		t.Run(name, func(t *testing.T) {
			require.Error(t, settings.Load(cfg))
			_, err := settings.Fields(cfg)
			require.Error(t, err)
		})
	}
}
