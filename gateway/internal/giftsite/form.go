package giftsite

import (
	"crypto/rand"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// maxForm is far above the size of the longest allowed texts.
const maxForm = 64 << 10

// The names of form fields other than inputs. The field of one dimension of a gift has the name variationPrefix and the
// dimension. The field fieldChoice holds a value for each dimension.
const (
	fieldStep       = "step"
	fieldGift       = "gift"
	fieldChoice     = "choice"
	fieldNonce      = "nonce"
	variationPrefix = "v:"
)

// The steps that a form can request.
const (
	stepList = "list"
	stepForm = "form"
	stepSend = "send"
)

// input is a text input of the address.
type input struct {
	ID           string
	MaxLength    int
	Type         string
	Autocomplete string
	Optional     bool
	// Short inputs share a row if there is room.
	Short bool
}

// inputs are in display order, with the lengths of the API specification, section Limits. The country is chosen from a list.
var inputs = []input{
	{ID: "name", MaxLength: 100, Type: "text", Autocomplete: "name"},
	{ID: "street", MaxLength: 255, Type: "text", Autocomplete: "address-line1"},
	{ID: "postalCode", MaxLength: 20, Type: "text", Autocomplete: "postal-code", Short: true},
	{ID: "city", MaxLength: 100, Type: "text", Autocomplete: "address-level2", Short: true},
	{ID: fieldCountry, MaxLength: 2},
	{ID: "phone", MaxLength: 50, Type: "tel", Autocomplete: "tel"},
	{ID: "email", MaxLength: 255, Type: "email", Autocomplete: "email", Optional: true},
}

const fieldCountry = "country"

// form holds the choices and texts of a player so far.
type form struct {
	Step string
	Gift string
	// Nonce is the random text of the form, which its repetitions share. It is empty before a form is shown.
	Nonce string
	// Picked is the chosen value of each dimension.
	Picked map[string]string
	// Entered are the texts of inputs and the country, by name.
	Entered map[string]string
	// InvalidText names the inputs that are not valid text.
	InvalidText []string
}

// The errors of a request whose body is not a form of these pages.
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
		Step:    values.Get(fieldStep),
		Gift:    text(values.Get(fieldGift)),
		Nonce:   nonceIn(values),
		Picked:  pickedIn(values),
		Entered: map[string]string{},
	}
	for _, in := range inputs {
		raw := values.Get(in.ID)
		if !utf8.ValidString(raw) || strings.ContainsRune(raw, 0) {
			f.InvalidText = append(f.InvalidText, in.ID)
		}
		f.Entered[in.ID] = text(raw)
	}
	return f
}

// nonceForm is the form of the texts that newNonce makes.
var nonceForm = regexp.MustCompile(`^[A-Z2-7]{26}$`)

// newNonce makes the random text of a form. Whoever sends the form again with it gets the reference of the order, and nobody else
// who has the link.
func newNonce() string { return rand.Text() }

func nonceIn(values url.Values) string {
	if nonce := values.Get(fieldNonce); nonceForm.MatchString(nonce) {
		return nonce
	}
	return ""
}

// pickedIn reads the choice from the fields of single dimensions or from the field of all dimensions.
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

// text removes characters that cannot be passed on or shown. It also trims spaces, which keyboards of phones add after a word.
func text(s string) string {
	return strings.TrimSpace(strings.ReplaceAll(strings.ToValidUTF8(s, ""), "\x00", ""))
}

func (f form) request(token string) *linksv1.ClaimLinkRequest {
	return &linksv1.ClaimLinkRequest{
		Token:      token,
		ProductId:  f.Gift,
		Variations: f.Picked,
		FormNonce:  unlessEmpty(f.Nonce),
		Recipient: &linksv1.ClaimRecipient{
			Name:       f.Entered["name"],
			Phone:      f.Entered["phone"],
			Email:      unlessEmpty(f.Entered["email"]),
			Street:     f.Entered["street"],
			City:       f.Entered["city"],
			PostalCode: unlessEmpty(f.Entered["postalCode"]),
			Country:    f.Entered[fieldCountry],
		},
	}
}

func unlessEmpty(s string) *string {
	if s == "" {
		return nil
	}
	return proto.String(s)
}

// formError is one error in the form. Field is the name of an input; it is empty if the error belongs to no input.
type formError struct {
	Field string
	Text  string
	Href  string
}

// fieldChoices is the field of errors in the choice of variations.
const fieldChoices = "choices"

// formErrors translates violations, in the order of the page. Errors in the choice are shown at its groups.
func (t *texts) formErrors(violations []problem.Violation) []formError {
	found := map[string]formError{}
	for _, v := range violations {
		field := fieldOf(v.Field)
		if _, ok := found[field]; !ok && field != fieldChoices {
			e := formError{Field: field, Text: t.fieldError(field, v.Code)}
			if field != "" {
				e.Href = "#" + field
			}
			found[field] = e
		}
	}
	var errs []formError
	for _, field := range fieldOrder {
		if e, ok := found[field]; ok {
			errs = append(errs, e)
		}
	}
	return errs
}

// fieldOrder begins with the errors that belong to no field.
var fieldOrder = func() []string {
	order := []string{""}
	for _, in := range inputs {
		order = append(order, in.ID)
	}
	return order
}()

// fieldOf returns the input of a path such as recipient.address.postalCode.
func fieldOf(path string) string {
	if path == "productId" || strings.HasPrefix(path, "variations") {
		return fieldChoices
	}
	name := path[strings.LastIndexByte(path, '.')+1:]
	if slices.Contains(fieldOrder, name) {
		return name
	}
	return ""
}

// fieldError returns the text of an error code at a field, or a general text if the field has none for the code.
func (t *texts) fieldError(field, code string) string {
	key := "error." + field + "." + code
	switch {
	case field == "":
		return t.T("problem.again")
	case t.Has(key):
		return t.T(key, "example", t.T("phone.example"))
	case field == fieldCountry:
		return t.T("error.country.invalid")
	case code == problem.FieldTooLong:
		return t.T("error.too_long", "field", t.T(field), "limit", strconv.Itoa(maxLength(field)))
	default:
		return t.T("error.invalid", "field", t.T(field))
	}
}

func maxLength(field string) int {
	i := slices.IndexFunc(inputs, func(in input) bool { return in.ID == field })
	if i < 0 {
		return 0
	}
	return inputs[i].MaxLength
}

// invalidText returns the errors of inputs that are not valid text.
func (t *texts) invalidText(fields []string) []formError {
	violations := make([]problem.Violation, 0, len(fields))
	for _, field := range fields {
		violations = append(violations, problem.Violation{Field: field, Code: problem.FieldInvalid})
	}
	return t.formErrors(violations)
}
