package giftingctl

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/deploy/giftingctl/giftingctltest"
	"github.com/partnergifting/platform/pkg/problem"
)

func TestAnErrorInTheCommandExitsWith2(t *testing.T) {
	t.Parallel()
	services := giftingctltest.Start(t, nil)
	for line, says := range map[string]string{
		"ordrs":                     "unknown command: giftingctl ordrs: did you mean orders?",
		"orders dispach x":          "unknown command: giftingctl orders dispach: did you mean dispatch?",
		"help ordrs":                "unknown command: giftingctl ordrs: did you mean orders?",
		"help orders dispach":       "unknown command: giftingctl orders dispach: did you mean dispatch?",
		"ordrs --help":              "unknown command: giftingctl ordrs: did you mean orders?",
		"orders dispach -h -o json": "did you mean dispatch?",
		"burn":                      "unknown command: giftingctl burn: giftingctl --help lists the commands",
		"orders burn -o json":       `"code":"usage"`,
		"orders get x --colour red": "unknown flag: --colour",
		"completion elvish":         "elvish",
		"orders search --status requested --status processing":   "it takes one value and is given twice",
		"bootstrap databases --run --secrets none":               "`bootstrap keys` makes it",
		"bootstrap databases --only moon":                        `there is no database "moon"`,
		"bootstrap keys":                                         `"postgres" not set`,
		"bootstrap keys now --postgres a:1":                      "the arguments are keys",
		"bootstrap keys --postgres a:1 --redis a --redis-file b": "redis",
		"check --url http://localhost":                           `"key-file" not set`,
		"orders cancel x":                                        "--reason",
		"orders approve":                                         "ORDER_ID",
		"orders approve x --tenant=":                             "--tenant is empty: is the variable set from which it comes?",
		"orders search --tenant=":                                "--tenant is empty",
		"regions list --context=":                                "--context is empty",
		"offboarding start --file=":                              "--file is empty",
		"products set-prices x --file=":                          "--file is empty",
		"campaigns set-greetings x --file=":                      "--file is empty",
		"bootstrap databases --only=":                            "--only is empty",
		"orders search --status lost":                            `"lost" is none of`,
		"orders search --placed-from yesterday":                  "is not a time such",
		"people erase --order-id a --personal-link-id b":         "only one can be",
		"people export --order-id x":                             "--out FILE",
		"regions list -o xml":                                    "-o is table or",
		"regions list --context moon":                            "no such context",
		"keys rotate-webhook-secret 1 --overlap 9999999d":        "is too long",
		"links preview home --brand-id north":                    `"home" is none of greeting, choose, gift,`,
		"links preview gift":                                     "missing flags --brand-id",
		"links preview --brand-id north":                         "the arguments are preview PAGE",
		"links preview gift --brand-id north -f missing.json":    "no such file",
	} {
		code, out, errs := runLine(t, services.Config, strings.Fields(line)...)
		require.Equal(t, exitUsage, code, line+errs)
		require.Contains(t, errs, says)
		require.Empty(t, out)
	}
	require.Empty(t, services.Calls())
	code, out, _ := runLine(t, services.Config)
	require.Zero(t, code)
	require.Contains(t, out, "--order-id", "exit code 3 says how a command is repeated")
}

func TestAnErrorAsJSONHasTheNamesOfTheAPI(t *testing.T) {
	t.Parallel()
	services := giftingctltest.Start(t, func(string, proto.Message) (proto.Message, error) {
		return nil, problem.Invalid(problem.Violation{Field: "brand.id", Code: problem.FieldInvalid, Message: "must be a UUID"})
	})
	code, _, errs := runLine(t, services.Config, "brands", "put", "x", "--name", "Fjord", "--slug", "fjord", "-o", "json")
	require.Equal(t, exitFailed, code)
	require.Contains(t, errs, `"errors":[{"field":"brand.id","code":"invalid","message":"must be a UUID"}]`)
}

func TestACommandThatMakesSomethingSaysHowToRepeatIt(t *testing.T) {
	t.Parallel()
	services := giftingctltest.Start(t, func(string, proto.Message) (proto.Message, error) {
		return nil, status.Error(codes.Unavailable, "down")
	})
	const id = `[0-9a-f]{8}-[0-9a-f-]{27}`
	request := filepath.Join(t.TempDir(), "request.json")
	require.NoError(t, os.WriteFile(request, []byte(`{"orderId": "5f0c3a2e-7d15-4a63-9d0e-0f3b8c1f2a77"}`), 0o600))
	place := []string{
		"orders", "place", "--items", "custom-product-name=A ball", "--client.name", "Ann", "--recipient.name", "Ann",
		"--recipient.phone", "+46701234567",
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{place, `Nothing is done twice if you repeat the command with --order-id ` + id + `\n$`},
		{append(place, "-o", "json"), `^\{.*"repeatWith":"--order-id ` + id + `"\}\n$`},
		{[]string{"tenants", "put", "--name", "Fjord", "--currency", "EUR", "--api-access"}, `repeat the command with ` + id + `\n$`},
		{[]string{"orders", "place", "-f", request}, `giftingctl context show\n$`},
		{[]string{"keys", "create", "--name", "CRM", "--scopes", "orders"}, `: down; if keys list shows a new key, revoke it`},
		{[]string{"orders", "get", "x"}, `giftingctl context show\n$`},
	} {
		code, _, errs := runLine(t, services.Config, c.args...)
		require.Equal(t, exitUnavailable, code, errs)
		require.Regexp(t, c.want, errs)
	}
	key := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(key, []byte("key"), 0o600))
	code, _, errs := runLine(t, services.Config, "check", "--url", "http://127.0.0.1:1", "--key-file", key)
	require.Equal(t, exitUnavailable, code, errs)
}

type fullDisk struct{}

var errFull = errors.New("no space left on device")

// Write implements io.Writer.
func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestAResponseThatCannotBePrintedIsNotLost(t *testing.T) {
	t.Parallel()
	services := giftingctltest.Start(t, nil)
	for line, want := range map[string]string{
		"keys rotate-webhook-secret 7":            `repeat the command with --request-id \S{36}\n`,
		"keys rotate-webhook-secret 7 -o json":    `repeat the command with --request-id \S{36}\n`,
		"keys create --name CRM --scopes catalog": `^The key was made, but its text is lost: revoke it`,
		"keys list": `^giftingctl: no space left on device\n$`,
	} {
		var errs strings.Builder
		code := Run(t.Context(), append([]string{"--config", services.Config}, strings.Fields(line)...),
			Streams{In: strings.NewReader(""), Out: fullDisk{}, Err: &errs})
		require.Equal(t, exitFailed, code, line)
		require.Regexp(t, want, errs.String(), line)
	}
}
