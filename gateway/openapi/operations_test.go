package openapi_test

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/partnergifting/platform/gateway/internal/operation"
	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/enumname"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
)

// imagesPath is the only path that is not an operation of a contract: it needs no key and no codec.
const imagesPath = "/catalog/images/{fileId}"

// operations are those of the sandbox, which has all of production and more.
func operations(t *testing.T) []*operation.Operation {
	t.Helper()
	return operationsOf(t, apikey.Sandbox)
}

func operationsOf(t *testing.T, environment apikey.Environment) []*operation.Operation {
	t.Helper()
	table, err := operation.New(environment)
	require.NoError(t, err)
	return table.All()
}

// eachOperation runs a test for each operation.
func eachOperation(t *testing.T, test func(t *testing.T, d document, op *operation.Operation)) {
	t.Helper()
	d := load(t)
	for _, op := range operations(t) {
		t.Run(op.Name, func(t *testing.T) {
			sub := d
			sub.t = t
			test(t, sub, op)
		})
	}
}

// camel turns order_id into orderId, in a path too.
func camel(name string) string {
	parts := strings.Split(name, "_")
	for i := 1; i < len(parts); i++ {
		parts[i] = strings.ToUpper(parts[i][:1]) + parts[i][1:]
	}
	return strings.Join(parts, "")
}

func (d document) operation(op *operation.Operation) object {
	d.t.Helper()
	return d.object(d.at("paths", camel(op.Path), strings.ToLower(op.Method)))
}

func TestEveryOperationIsDescribedAndNoOther(t *testing.T) {
	t.Parallel()
	for _, environment := range environments {
		t.Run(string(environment), func(t *testing.T) {
			want := []string{"get " + imagesPath}
			for _, op := range operationsOf(t, environment) {
				want = append(want, strings.ToLower(op.Method)+" "+camel(op.Path))
			}
			var got []string
			loadOf(t, environment).each("paths", func(path, method string, _ object) { got = append(got, method+" "+path) })
			require.ElementsMatch(t, want, got)
		})
	}
}

// Readers and generated clients see the operations in the order of the document.
func TestOperationsFollowTheOrderOfTheTags(t *testing.T) {
	t.Parallel()
	for _, environment := range environments {
		var document struct {
			Paths yaml.Node
			Tags  []struct{ Name string }
		}
		require.NoError(t, yaml.Unmarshal(loadOf(t, environment).raw, &document))
		var got, want []string
		for pair := range slices.Chunk(document.Paths.Content, 2) {
			var path struct{ Get, Post struct{ Tags []string } }
			require.NoError(t, pair[1].Decode(&path))
			require.NotZero(t, path, pair[0].Value)
			got = append(got, append(path.Get.Tags, path.Post.Tags...)...)
		}
		for _, tag := range document.Tags {
			if slices.Contains(got, tag.Name) {
				want = append(want, tag.Name)
			}
		}
		require.Equal(t, want, slices.Compact(got), environment)
	}
}

func TestPartsOfTheSandboxAreInItsDocumentOnly(t *testing.T) {
	t.Parallel()
	for environment, want := range map[apikey.Environment]bool{apikey.Production: false, apikey.Sandbox: true} {
		has := slices.ContainsFunc(loadOf(t, environment).at("tags").([]any),
			func(tag any) bool { return tag.(object)["name"] == "Sandbox" })
		require.Equal(t, want, has, environment)
	}
}

func TestEveryResponseOfAnOperationIsDescribed(t *testing.T) {
	t.Parallel()
	eachOperation(t, func(t *testing.T, d document, op *operation.Operation) {
		want := []int{op.Success, 400, 401, 406, 429, 500, 503}
		if op.Scope != commonv1.Scope_SCOPE_UNSPECIFIED {
			want = append(want, http.StatusForbidden)
		}
		if len(op.PathFields) > 0 {
			want = append(want, http.StatusNotFound)
		}
		if op.Method == http.MethodPost {
			want = append(want, 413, 415)
		}
		if hasKey(op) {
			want = append(want, 409, 422)
		}
		if op.Conditional {
			want = append(want, map[string]int{http.MethodGet: 304, http.MethodPost: 412}[op.Method])
		}
		var got []int
		for status := range d.object(d.operation(op)["responses"]) {
			code, err := strconv.Atoi(status)
			require.NoError(t, err)
			got = append(got, code)
		}
		require.ElementsMatch(t, want, got)
	})
}

// hasKey reports whether the Idempotency-Key of the operation matters.
func hasKey(op *operation.Operation) bool { return op.Method == http.MethodPost && !op.KeyIgnored }

func TestEveryOperationNamesItsScope(t *testing.T) {
	t.Parallel()
	d := load(t)
	for _, op := range operations(t) {
		want := "Any valid key may call this."
		if op.Scope != commonv1.Scope_SCOPE_UNSPECIFIED {
			want = "Needs the scope `" + enumname.String(op.Scope) + "`."
		}
		require.Contains(t, d.operation(op)["description"], want, op.Name)
		require.NotContains(t, d.operation(op), "security", op.Name)
	}
	require.Empty(t, d.at("paths", imagesPath, "get", "security"))
	require.Equal(t, []any{object{"apiKey": []any{}}}, d.root["security"])
}

func TestHeadersOfResponses(t *testing.T) {
	t.Parallel()
	d := load(t)
	for _, op := range operations(t) {
		responses := d.object(d.operation(op)["responses"])
		for status := range responses {
			want := []string{"Request-Id", "RateLimit", "RateLimit-Policy"}
			switch status {
			case "401":
				want = []string{"Request-Id", "WWW-Authenticate"}
			case "415":
				want = append(want, "Accept-Encoding")
			case "429", "503":
				want = append(want, "Retry-After")
			}
			if status == "409" {
				want = append(want, "Retry-After")
			}
			if status >= "400" && status != "401" {
				want = append(want, "Sandbox")
			}
			if hasKey(op) && slices.Contains([]string{"200", "201", "202", "409", "422"}, status) {
				want = append(want, "Idempotent-Replayed")
			}
			if slices.Contains([]string{"200", "201", "202", "304"}, status) {
				want = append(want, "Ignored-Parameters")
			}
			if op.Method == http.MethodPost && slices.Contains([]string{"200", "201", "202", "400", "409", "412", "422"}, status) {
				want = append(want, "Ignored-Members")
			}
			if op.Conditional && (status == "304" || op.Method == http.MethodGet && status == "200") {
				want = append(want, "ETag")
			}
			if op.Path == "/events" && status == "200" {
				want = append(want, "Feed-Position", "Wait")
			}
			mayGoOn := op.Method == http.MethodPost && (op.Path == "/orders" || op.Path == "/personal-links:create-batch")
			if (op.Sandbox != "" || mayGoOn) && status == strconv.Itoa(op.Success) {
				want = append(want, "Sandbox")
			}
			if op.Created != nil && status == "201" {
				want = append(want, "Location")
			}
			headers := d.object(d.object(responses[status])["headers"])
			require.ElementsMatch(t, want, slices.Collect(maps.Keys(headers)), "%s %s", op.Name, status)
		}
	}
}
