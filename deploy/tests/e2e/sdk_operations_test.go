package e2e_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/partnergifting/platform/gateway/openapi"
	gifting "github.com/partnergifting/platform/gateway/sdk/go"
	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/problem"
)

// operation of the OpenAPI document.
type operation struct {
	OperationID string      `yaml:"operationId"`
	Parameters  []parameter `yaml:"parameters"`
}

type parameter struct {
	Ref  string `yaml:"$ref"`
	Name string `yaml:"name"`
	In   string `yaml:"in"`
}

// documented are the operations of the sandbox, by method and path. The names of ids in a path are left out.
func documented(t *testing.T) map[string]operation {
	t.Helper()
	made, err := openapi.New("https://api.example.com/api/public/v1", apikey.Sandbox, nil)
	require.NoError(t, err)
	raw, err := made.YAML()
	require.NoError(t, err)
	var document struct {
		Paths      map[string]map[string]yaml.Node `yaml:"paths"`
		Components struct {
			Parameters map[string]parameter `yaml:"parameters"`
		} `yaml:"components"`
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
			for i, p := range o.Parameters {
				if p.Ref != "" {
					o.Parameters[i] = document.Components.Parameters[strings.TrimPrefix(p.Ref, "#/components/parameters/")]
					o.Parameters[i].Ref = p.Ref
				}
			}
			found[strings.ToUpper(method)+" "+regexp.MustCompile(`\{\w+\}`).ReplaceAllString(path, "x")] = o
		}
	}
	return found
}

// named are the names of the operation's parameters in a place.
func (o operation) named(in string) (names []string) {
	for _, p := range o.Parameters {
		if p.In == in && !strings.HasSuffix(p.Ref, "/IgnoredIdempotencyKey") {
			names = append(names, p.Name)
		}
	}
	return names
}

// recorder is a transport that sends nothing.
type recorder struct{ sent *http.Request }

var errNotSent = errors.New("not sent")

// RoundTrip implements http.RoundTripper.
func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	r.sent = req
	return nil, errNotSent
}

// call returns what a method sends that is called with an option, and with every filter.
func (r *recorder) call(method reflect.Value, option gifting.CallOption) *http.Request {
	r.sent = nil
	arguments := []reflect.Value{reflect.ValueOf(context.Background())}
	for i := 1; i < method.Type().NumIn()-1; i++ {
		argument := reflect.New(method.Type().In(i)).Elem()
		if argument.Kind() == reflect.String || strings.HasSuffix(argument.Type().Name(), "Query") {
			fill(argument)
		}
		arguments = append(arguments, argument)
	}
	result := method.Call(append(arguments, reflect.ValueOf(option)))[0]
	if first := result.MethodByName("First"); first.IsValid() {
		first.Call(nil)
	}
	return r.sent
}

// fill gives every field a value.
func fill(value reflect.Value) {
	switch v := value.Addr().Interface().(type) {
	case *time.Time:
		*v = time.Unix(1, 0)
	case *time.Duration:
		*v = time.Second
	default:
		switch value.Kind() {
		case reflect.String:
			value.SetString("x")
		case reflect.Int:
			value.SetInt(1)
		default:
			for i := range value.NumField() {
				fill(value.Field(i))
			}
		}
	}
}

// Each operation is a method that sends every parameter of the query, and takes the options that the operation knows, and no
// others.
func TestTheGoSDKHasEveryOperationOfTheDocument(t *testing.T) {
	t.Parallel()
	transport := &recorder{}
	client, err := gifting.New("https://api.example.com", "key", gifting.WithTransport(transport), gifting.WithMaxAttempts(1))
	require.NoError(t, err)
	all, found := documented(t), map[string]bool{}
	require.Greater(t, len(all), 30)
	for group, methods := range reflect.ValueOf(client).Elem().Fields() {
		for i := range methods.NumMethod() {
			name := group.Name + "." + methods.Type().Method(i).Name
			if !group.IsExported() || name == "Events.Feed" || name == "Catalog.Sync" { // These two call others.
				continue
			}
			sent := transport.call(methods.Method(i), gifting.WithHeader("X", "x"))
			require.NotNil(t, sent, name)
			o, known := all[sent.Method+" "+sent.URL.Path]
			require.True(t, known, name)
			found[o.OperationID] = true
			require.ElementsMatch(t, o.named("query"), slices.Collect(maps.Keys(sent.URL.Query())), name)
			takes := o.named("header")
			require.Equal(t, slices.Contains(takes, "Idempotency-Key"), sent.Header.Get("Idempotency-Key") != "", name)
			for _, header := range []string{"Idempotency-Key", "If-Match", "If-None-Match"} {
				given := transport.call(methods.Method(i), gifting.WithHeader(header, "x")) != nil
				require.Equal(t, slices.Contains(takes, header), given, "%s %s", name, header)
			}
		}
	}
	require.Len(t, found, len(all))
}

func TestTheGoSDKHasEveryCodeOfThePlatform(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile(filepath.Join(root, "gateway/sdk/go/problem.go"))
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
