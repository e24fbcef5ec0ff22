package giftsite

import (
	"errors"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// maxForm is far above what the longest allowed texts take.
const maxForm = 64 << 10

// The names of form fields beside those of inputs. A field of one dimension of a gift is named
// by variationPrefix and the dimension; one for all dimensions holds a value of each.
const (
	fieldStep       = "step"
	fieldGift       = "gift"
	fieldChoice     = "choice"
	variationPrefix = "v:"
)

// The steps a form asks for.
const (
	stepList = "list"
	stepForm = "form"
	stepSend = "send"
)

// input is a text of the address.
type input struct {
	ID           string
	Limit        int
	Type         string
	Autocomplete string
	Optional     bool
	// Short fields stand beside another where there is room.
	Short bool
}

// inputs are in display order, with the limits of the API (API specification, section Limits). The
// country is chosen from a list.
var inputs = []input{
	{ID: "name", Limit: 100, Type: "text", Autocomplete: "name"},
	{ID: "street", Limit: 255, Type: "text", Autocomplete: "address-line1"},
	{ID: "postalCode", Limit: 20, Type: "text", Autocomplete: "postal-code", Short: true},
	{ID: "city", Limit: 100, Type: "text", Autocomplete: "address-level2", Short: true},
	{ID: fieldCountry, Limit: 2},
	{ID: "phone", Limit: 50, Type: "tel", Autocomplete: "tel"},
	{ID: "email", Limit: 255, Type: "email", Autocomplete: "email", Optional: true},
}

const fieldCountry = "country"

// form is what a player has chosen and typed so far.
type form struct {
	Step string
	Gift string
	// Picked is the chosen value of each dimension.
	Picked map[string]string
	// Typed are the texts of inputs and the country, by name.
	Typed map[string]string
	// Unreadable names the inputs that are not text.
	Unreadable []string
}

// The faults of a request that is no form of these pages.
var (
	errMediaType = errors.New("not a form")
	errTooLarge  = errors.New("form too large")
	errMalformed = errors.New("malformed form")
)

// readForm reads a posted form.
func readForm(w http.ResponseWriter, r *http.Request) (form, error) {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != "application/x-www-form-urlencoded" || r.Header.Get("Content-Encoding") != "" {
		return form{}, errMediaType
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return form{}, errTooLarge
		}
		return form{}, errMalformed
	}
	return formOf(r.PostForm), nil
}

func formOf(values url.Values) form {
	f := form{
		Step:   values.Get(fieldStep),
		Gift:   text(values.Get(fieldGift)),
		Picked: pickedIn(values),
		Typed:  map[string]string{},
	}
	for _, in := range inputs {
		raw := values.Get(in.ID)
		if !utf8.ValidString(raw) || strings.ContainsRune(raw, 0) {
			f.Unreadable = append(f.Unreadable, in.ID)
		}
		f.Typed[in.ID] = text(raw)
	}
	return f
}

// pickedIn reads the fields of single dimensions and the one that holds a value of each.
func pickedIn(values url.Values) map[string]string {
	picked := map[string]string{}
	for name := range values {
		if dimension, ok := strings.CutPrefix(name, variationPrefix); ok {
			picked[text(dimension)] = text(values.Get(name))
		}
	}
	combination, err := url.ParseQuery(values.Get(fieldChoice))
	if err != nil {
		return picked
	}
	for dimension := range combination {
		picked[text(dimension)] = text(combination.Get(dimension))
	}
	return picked
}

// text is what of s can be sent on and shown: a phone's keyboard likes to end a word with a space.
func text(s string) string {
	return strings.TrimSpace(strings.ReplaceAll(strings.ToValidUTF8(s, ""), "\x00", ""))
}

func (f form) request(token string) *linksv1.ClaimLinkRequest {
	return &linksv1.ClaimLinkRequest{
		Token:      token,
		ProductId:  f.Gift,
		Variations: f.Picked,
		Recipient: &linksv1.ClaimRecipient{
			Name:       f.Typed["name"],
			Phone:      f.Typed["phone"],
			Email:      unlessEmpty(f.Typed["email"]),
			Street:     f.Typed["street"],
			City:       f.Typed["city"],
			PostalCode: unlessEmpty(f.Typed["postalCode"]),
			Country:    f.Typed[fieldCountry],
		},
	}
}

func unlessEmpty(s string) *string {
	if s == "" {
		return nil
	}
	return proto.String(s)
}
