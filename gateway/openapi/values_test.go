package openapi_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
	"golang.org/x/text/language"

	"github.com/partnergifting/platform/gateway/internal/idempotent"
	"github.com/partnergifting/platform/gateway/openapi"
	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/page"
	"github.com/partnergifting/platform/pkg/settings"
)

func TestLimitsOfParameters(t *testing.T) {
	t.Parallel()
	d := load(t)
	limit := d.at("components", "parameters", "Limit", "schema").(object)
	require.InDelta(t, 1, limit["minimum"], 0)
	require.InDelta(t, page.MaxLimit, limit["maximum"], 0)
	require.InDelta(t, page.DefaultLimit, limit["default"], 0)
}

func TestLimitsAreInWords(t *testing.T) {
	t.Parallel()
	for schema, words := range map[string][]string{
		"{maxLength: 255}":            {"at most 255 characters"},
		"{minItems: 1, maxItems: 50}": {"1 to 50"},
		"{minItems: 2, maxItems: 2}":  {"exactly 2"},
		"{minItems: 1}":               {"at least 1"},
		"{maximum: 9, default: 3}":    {"at most 9", "default 3"},
		"{type: string}":              nil,
	} {
		var root yaml.Node
		require.NoError(t, yaml.Unmarshal([]byte(schema), &root))
		require.Equal(t, words, openapi.NewNode(root.Content[0]).Limits(), schema)
	}
}

func TestPublishedTimes(t *testing.T) {
	t.Parallel()
	d := load(t)
	numberOfDays := regexp.MustCompile(`[*]*(\d+) days`)
	daysIn := func(text string) []string {
		var numbers []string
		for _, found := range numberOfDays.FindAllStringSubmatch(text, -1) {
			numbers = append(numbers, found[1])
		}
		return numbers
	}
	var cfg idempotency.Config
	require.NoError(t, settings.Defaults(&cfg))
	retention := strconv.Itoa(int(cfg.Retention / (24 * time.Hour)))

	t.Run("idempotency keys are stored as long as answers", func(t *testing.T) {
		require.Equal(t, []string{retention}, daysIn(d.at("info", "description").(string)))
		require.Equal(t, []string{retention}, daysIn(d.at("components", "parameters", "IdempotencyKey", "description").(string)))
	})
	t.Run("events are kept for 30 days", func(t *testing.T) {
		require.Equal(t, []string{"30"}, daysIn(d.at("paths", "/events", "get", "description").(string)))
	})
	t.Run("a receiver has 10 seconds", func(t *testing.T) {
		webhooks := slices.IndexFunc(d.root["tags"].([]any), func(tag any) bool { return tag.(object)["name"] == "Webhooks" })
		require.Contains(t, d.root["tags"].([]any)[webhooks].(object)["description"], "within **10 seconds**")
	})
}

func TestCountriesThatNeedAPostalCode(t *testing.T) {
	t.Parallel()
	text := load(t).at("components", "schemas", "OrderAddress", "properties", "postalCode", "description").(string)
	want := slices.DeleteFunc(fields.Countries(), func(code string) bool { return !fields.PostalCodeRequired(code) })
	require.Equal(t, want, regexp.MustCompile(`\b[A-Z]{2}\b`).FindAllString(text, -1))
}

// The patterns must accept the values that the server accepts, and no others: tools validate requests against them. A pattern
// cannot check that a locale is one of the tenant's or that a cursor belongs to the list.
func TestPatternsOfParameters(t *testing.T) {
	t.Parallel()
	d := load(t)
	long := strings.Repeat("k", 255)
	accepted := map[string]func(value string) bool{
		"IdempotencyKey": func(value string) bool {
			_, err := idempotent.Key(http.Header{"Idempotency-Key": {value}})
			return err == nil
		},
		"IfMatch": func(value string) bool {
			_, ok := caller.ParseCondition([]string{value})
			return ok
		},
		"After": func(value string) bool {
			_, err := page.Bind().Decode(value)
			return err == nil
		},
		"Locale": func(value string) bool {
			_, err := language.Raw.Parse(value)
			return err == nil || strings.TrimSpace(value) == ""
		},
	}
	for parameter, values := range map[string][]string{
		"IdempotencyKey": {
			"k", " k ", "a b", "å", "a\"b", long, long + "k", "", " ", "\t",
			" " + long + " ", `"` + long + `"`, `"` + long + `k"`,
			`"` + strings.Repeat(`\"`, 255) + `"`, `"` + strings.Repeat(`\"`, 256) + `"`,
			`"k"`, `"a b"`, `" a"`, `"a\"b"`, `"a\\b"`, ` "k" `, `"`, `""`, `" "`, `"k`, `"a\b"`, `"a"b"`, `"å"`,
		},
		"IfMatch": {
			"*", " * ", `"a"`, `W/"a"`, `""`, `"a", "b"`, `"a","b",`, `"a" ,, "b"`, `"a,b"`, `"å"`, "", "a", `"a`, `"a" "b"`, `,"a"`,
			`*, "a"`, `"a b"`,
			strings.TrimSuffix(strings.Repeat(`"a",`, 100), ","), strings.TrimSuffix(strings.Repeat(`"a",`, 101), ","),
		},
		"After":  {page.Bind().Encode(nil), page.Bind().Encode([]byte{0xfb, 0xff}), "", "a b", "a=", "å", "a+b", "a/b", "\n"},
		"Locale": {"en-US", "sv-SE", "zh-Hant-TW", "de", "", " ", "e", "en_", "-", "en-", "en US", "sv-SE!", "å"},
	} {
		schema := d.schema("components", "parameters", parameter, "schema")
		for _, value := range values {
			require.Equal(t, accepted[parameter](value), schema.Validate(value) == nil, "%s %q", parameter, value)
		}
	}
}

// The schemas must accept and reject the same values as the rules of the orders service.
func TestPatternsOfRequests(t *testing.T) {
	t.Parallel()
	d := load(t)
	for field, values := range map[string]struct{ good, bad []any }{
		"OrderRecipient.phone": {
			good: []any{"+46 70-123 45 67", "+46 (0)70-123.45 67", " +353 1 234 5678 ", "(+1) 212 555 0100"},
			bad:  []any{"070-123 45 67", "+46 70 CALL ME", "", nil, "+4670" + strings.Repeat(" ", 50) + "1234567"},
		},
		"OrderAddress.country": {good: []any{"SE"}, bad: []any{"se", "SWE", "", nil}},
		"PlaceOrderRequest.externalOrderId": {
			good: []any{"o", strings.Repeat("å", 128)},
			bad:  []any{" ", "", nil, strings.Repeat("å", 129)},
		},
		"PlaceOrderRequest.items":  {bad: []any{[]any{}, []any{object{}, object{}}, nil}},
		"PlaceOrderRequest.urgent": {good: []any{true, nil}, bad: []any{"true", 1.0}},
		"Budget.amount": {
			good: []any{"1500.00", "0.01", "1e2", "1.5E+3", "1.5e+003", "1." + strings.Repeat("0", 62), 1500.0, 9999999999.99},
			bad:  []any{"-1", "1." + strings.Repeat("0", 63), "1e999", "ten", "1e", 0.0, -1.0, 1e10, nil},
		},
		"Budget.currency": {good: []any{"SEK"}, bad: []any{"sek", "", nil}},
	} {
		t.Run(field, func(t *testing.T) {
			name, member, _ := strings.Cut(field, ".")
			schema := d.schema("components", "schemas", name, "properties", member)
			for _, value := range values.good {
				require.NoError(t, schema.Validate(value), "%v", value)
			}
			for _, value := range values.bad {
				require.Error(t, schema.Validate(value), "%v", value)
			}
		})
	}
}

// A blank text counts as absent. So the document must allow the empty texts that some tools send for fields that are not filled in.
func TestEveryOptionalTextOfARequestMayBeEmpty(t *testing.T) {
	t.Parallel()
	d := load(t)
	schemaRef := regexp.MustCompile(`#/components/schemas/(\w+)`)
	schemasIn := func(value any) (names []string) {
		raw, err := json.Marshal(value)
		require.NoError(t, err)
		for _, found := range schemaRef.FindAllSubmatch(raw, -1) {
			names = append(names, string(found[1]))
		}
		return names
	}
	seen := map[string]bool{}
	var check func(names []string)
	check = func(names []string) {
		for _, name := range names {
			if seen[name] {
				continue
			}
			seen[name] = true
			schema := d.object(d.at("components", "schemas", name))
			properties, _ := schema["properties"].(object)
			for member, value := range properties {
				if strings.HasSuffix(name, "Correction") && slices.Contains([]string{"name", "phone", "street", "city", "country"}, member) {
					continue // A correction keeps what is left out, and cannot clear these.
				}
				// The type of a nullable text is a list. Any other text is optional if it is not required.
				types := d.object(value)["type"]
				nullable, required := slices.Contains(texts(types), "string"), slices.Contains(texts(schema["required"]), member)
				if nullable || types == "string" && !required {
					require.NoError(t, d.schema("components", "schemas", name, "properties", member).Validate(""), "%s.%s", name, member)
				}
			}
			check(schemasIn(properties))
		}
	}
	d.each("paths", func(_, _ string, op object) {
		if body, ok := op["requestBody"]; ok {
			check(schemasIn(body))
		}
	})
	require.True(t, seen["PlaceOrderRequest"] && seen["OrderItemInput"] && seen["PersonalLinkRecipient"], "%v", seen)
}

// Some limits are only in descriptions. If a schema had them, a tool that validates requests would refuse a request that the server
// accepts, or to which it responds with another error. The tests of restjson have the limits.
func TestLimitsOutsideTheSchemasAreDescribed(t *testing.T) {
	t.Parallel()
	d := load(t)
	general := d.at("info", "description").(string)
	answer := d.at("components", "schemas", "CustomFieldAnswer", "properties", "textValue", "description").(string)
	ids := d.at("components", "schemas", "CreatePersonalLinksRequest", "properties", "productIds", "description").(string)
	for _, limit := range []struct{ description, phrase string }{
		{general, "of at most 64 characters"},
		{general, "at most 100 levels deep"},
		{general, "of more than 1,000 the first 1,000"},
		{answer, "at most 2000 characters"},
		{ids, "1000 ids 400 `invalid_request`"},
	} {
		require.Contains(t, limit.description, limit.phrase)
	}
}
