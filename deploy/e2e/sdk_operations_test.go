package e2e_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/partnergifting/platform/gateway/openapi"
	gifting "github.com/partnergifting/platform/gateway/sdk/go"
	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/problem"
)

// operation of the OpenAPI document.
type operation struct {
	OperationID string `yaml:"operationId"`
	method      string
	path        string
}

// documented are the operations of the sandbox, by the names of the methods of the Go SDK.
func documented(t *testing.T) map[string]operation {
	t.Helper()
	made, err := openapi.New("https://api.example.com/api/public/v1", apikey.Sandbox, nil)
	require.NoError(t, err)
	raw, err := made.YAML()
	require.NoError(t, err)
	var document struct {
		Paths map[string]map[string]yaml.Node `yaml:"paths"`
	}
	require.NoError(t, yaml.Unmarshal(raw, &document))
	found := map[string]operation{}
	for path, methods := range document.Paths {
		for method, node := range methods {
			if method != "get" && method != "post" {
				continue
			}
			var o operation
			require.NoError(t, node.Decode(&o))
			o.method, o.path = strings.ToUpper(method), path
			found[strings.ToUpper(o.OperationID[:1])+o.OperationID[1:]] = o
		}
	}
	return found
}

// recorder is a transport that sends nothing.
type recorder struct{ sent *http.Request }

var errNotSent = errors.New("not sent")

// RoundTrip implements http.RoundTripper.
func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	r.sent = req
	return nil, errNotSent
}

func TestTheGoSDKHasEveryOperationOfTheDocument(t *testing.T) {
	t.Parallel()
	transport := &recorder{}
	client, err := gifting.New("https://api.example.com", "key", gifting.WithTransport(transport), gifting.WithMaxAttempts(1))
	require.NoError(t, err)
	all := documented(t)
	require.Greater(t, len(all), 30)
	for name, o := range all {
		method := reflect.ValueOf(client).MethodByName(name)
		require.True(t, method.IsValid(), "no method %s", name)
		arguments := []reflect.Value{reflect.ValueOf(context.Background())}
		for i := 1; i < method.Type().NumIn()-1; i++ {
			argument := reflect.New(method.Type().In(i)).Elem()
			if argument.Kind() == reflect.String {
				argument.SetString("x")
			}
			arguments = append(arguments, argument)
		}
		method.Call(arguments)
		require.Equal(t, o.method, transport.sent.Method, name)
		require.Equal(t, regexp.MustCompile(`\{\w+\}`).ReplaceAllString(o.path, "x"), transport.sent.URL.Path, name)
		require.Equal(t, o.method == http.MethodPost, transport.sent.Header.Get("Idempotency-Key") != "", name)
	}
}

func TestTheGoSDKHasEveryCodeOfThePlatform(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile(filepath.Join(root, "gateway/sdk/go/code.go"))
	require.NoError(t, err)
	var known, want []string
	for _, found := range regexp.MustCompile(` Code = "(\w+)"`).FindAllStringSubmatch(string(source), -1) {
		known = append(known, found[1])
	}
	for _, info := range problem.Registry() {
		want = append(want, string(info.Code))
	}
	require.ElementsMatch(t, want, known)
}
