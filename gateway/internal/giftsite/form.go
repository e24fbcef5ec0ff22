package giftsite

import (
	"errors"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/gateway/internal/giftsite/addressform"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/phone"
	"github.com/partnergifting/platform/pkg/problem"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// maxForm is far above the size of the longest allowed texts.
const maxForm = 64 << 10

// The names of form fields other than inputs. The field of one dimension of a gift has the name variationPrefix and the
// dimension. The field fieldChoice holds a value for each dimension. The field fieldFormCountry is the country whose address form
// the page has shown: the player may have picked another one since.
const (
	fieldStep        = "step"
	fieldGift        = "gift"
	fieldChoice      = "choice"
	fieldVersion     = "version"
	fieldShown       = "shown"
	fieldFormCountry = "formCountry"
	variationPrefix  = "v:"
)

// form is what a player has sent. It has only the fields of its page.
type form struct {
	// Step is the page that was sent.
	Step string
	Gift string
	// Picked is the chosen value of each dimension.
	Picked map[string]string
	// Initials are put on the gift.
	Initials string
	// Entered are the texts of the inputs that the form has, and the country, by name.
	Entered map[string]string
	// InvalidText names the inputs that are not valid text.
	InvalidText []string
	// Version is that of the draft or order that the page showed.
	Version int64
	// Shown means that the page of the correction has shown the address.
	Shown bool
	// Thanks is what the player writes to the brand.
	Thanks string
	// Digits are the last ones of the player's phone number.
	Digits string
}

// The errors of a request whose body is not a form of these pages.
var (
	errMediaType = errors.New("not a form")
	errTooLarge  = errors.New("form too large")
	errMalformed = errors.New("malformed form")
)

// readForm reads a posted form. It may be called again.
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
		Step:     values.Get(fieldStep),
		Gift:     text(values.Get(fieldGift)),
		Picked:   pickedIn(values),
		Initials: initials(values.Get(fieldInitials)),
		Entered:  map[string]string{},
		Version:  -1,
		Shown:    values.Has(fieldShown),
		Thanks:   text(strings.ReplaceAll(values.Get(fieldThanks), "\r\n", "\n")),
		Digits:   lastDigits(values.Get(fieldDigits)),
	}
	for _, name := range fieldNames {
		if !values.Has(name) {
			continue
		}
		raw := strings.ReplaceAll(values.Get(name), "\r\n", "\n")
		if !utf8.ValidString(raw) || strings.ContainsRune(raw, 0) {
			f.InvalidText = append(f.InvalidText, name)
		}
		f.Entered[name] = text(raw)
	}
	if version, err := strconv.ParseInt(values.Get(fieldVersion), 10, 64); err == nil {
		f.Version = version
	}
	if code, sent := f.Entered[addressform.PostalCode]; sent {
		f.Entered[addressform.PostalCode] = addressform.For(f.Entered[fieldCountry], "").PostalCode(code)
	}
	if shown := values.Get(fieldFormCountry); shown != "" && shown != f.Entered[fieldCountry] {
		// The page has shown the code of that country before the number.
		if number, ok := phone.ParseIn(f.Entered[fieldPhone], shown); ok {
			f.Entered[fieldPhone] = phone.Spaced(number)
		}
	}
	return f
}

// pickedIn reads the choice from the fields of single dimensions or from the field of all dimensions. Spaces around the words of
// the catalog are part of them.
func pickedIn(values url.Values) map[string]string {
	picked := map[string]string{}
	for name := range values {
		if dimension, ok := strings.CutPrefix(name, variationPrefix); ok {
			picked[validText(dimension)] = validText(values.Get(name))
		}
	}
	combination, err := url.ParseQuery(values.Get(fieldChoice))
	if err != nil {
		return picked
	}
	for dimension := range combination {
		picked[validText(dimension)] = validText(combination.Get(dimension))
	}
	return picked
}

// validText removes characters that cannot be passed on or shown.
func validText(s string) string { return strings.ReplaceAll(strings.ToValidUTF8(s, ""), "\x00", "") }

// text is validText of what a player has typed. It also trims spaces, which keyboards of phones add after a word.
func text(s string) string { return strings.TrimSpace(validText(s)) }

// recipient is the address that was sent.
func (f form) recipient() *linksv1.ClaimRecipient {
	return &linksv1.ClaimRecipient{
		Name: f.Entered[fieldName], Phone: f.Entered[fieldPhone], Email: unlessEmpty(f.Entered[fieldEmail]),
		Street: f.Entered[addressform.Street], Street2: unlessEmpty(f.Entered[addressform.Street2]),
		City: f.Entered[addressform.City], Region: unlessEmpty(f.Entered[addressform.Region]),
		PostalCode: unlessEmpty(f.Entered[addressform.PostalCode]), Country: f.Entered[fieldCountry],
		CourierComment: unlessEmpty(f.Entered[fieldComment]),
	}
}

// enteredIn are the texts of a recipient by the names of their inputs.
func enteredIn(r *linksv1.ClaimRecipient) map[string]string {
	return map[string]string{
		fieldName: r.GetName(), fieldPhone: r.GetPhone(), fieldEmail: r.GetEmail(),
		addressform.Street: r.GetStreet(), addressform.Street2: r.GetStreet2(), addressform.City: r.GetCity(),
		addressform.Region: r.GetRegion(), addressform.PostalCode: r.GetPostalCode(), fieldCountry: r.GetCountry(),
		fieldComment: r.GetCourierComment(),
	}
}

// asClaimed is a recipient as a claim sends it, with the second line in the street and the region in the city.
func asClaimed(r *linksv1.ClaimRecipient) *linksv1.ClaimRecipient {
	out := &linksv1.ClaimRecipient{}
	proto.Merge(out, r)
	out.Street, out.Street2 = addressform.StreetWithSecond(r.GetStreet(), r.GetStreet2()), nil
	out.City, out.Region = addressform.For(r.GetCountry(), "").CityWithRegion(r.GetCity(), r.GetRegion()), nil
	return out
}

// checkSecondParts returns the errors that the services cannot see, because the address of an order has neither a second line nor a
// region. If both parts are too long together, the error is at the street or the city. Nil: there are no errors.
func checkSecondParts(r *linksv1.ClaimRecipient) *linksv1.ClaimAnswer {
	country, entered, joined := addressform.For(r.GetCountry(), ""), enteredIn(r), enteredIn(asClaimed(r))
	errs := &fields.Errors{}
	for _, pair := range [][2]string{{addressform.Street, addressform.Street2}, {addressform.City, addressform.Region}} {
		whole, _ := country.Field(pair[0])
		part, known := country.Field(pair[1])
		if !known {
			continue
		}
		check := errs.Line
		if part.Required {
			check = errs.Required
		}
		check(recipientPath+part.ID, entered[part.ID], part.MaxLength)
		if !errs.Has(recipientPath+part.ID) && utf8.RuneCountInString(entered[whole.ID]) <= whole.MaxLength &&
			utf8.RuneCountInString(joined[whole.ID]) > whole.MaxLength {
			errs.Add(recipientPath+whole.ID, problem.FieldTooLong, "is too long with the second part")
		}
	}
	if errs.Err() == nil {
		return nil
	}
	return answerOf(problem.InvalidRequest, errs.List())
}

func unlessEmpty(s string) *string {
	if s == "" {
		return nil
	}
	return proto.String(s)
}

// formError is one error on a page. Field is the name of an input, and Label what the page calls it; empty: the text names it. Text
// is beside the input, under its label, to which Href leads.
type formError struct {
	Field string
	Label string
	Text  string
	Href  string
}

// Summary is the error in the list of all errors. It does not name the input twice, such as "City – Enter the city".
func (e formError) Summary() string {
	if e.Label == "" || strings.Contains(strings.ToLower(e.Text), strings.ToLower(e.Label)) {
		return e.Text
	}
	return e.Label + " – " + e.Text
}

const (
	// fieldChoices is the field of errors in the choice of variations.
	fieldChoices = "choices"
	// recipientPath begins the path of an input in an answer.
	recipientPath = "recipient."
)

// fieldErrors are the errors of an answer at the country and the inputs of a form, in its order.
func (t *texts) fieldErrors(answer *linksv1.ClaimAnswer, form []input) (errs []formError) {
	for _, in := range append([]input{{ID: fieldCountry, LabelKey: fieldCountry}}, form...) {
		for _, v := range answer.GetViolations() {
			if fieldOf(v.GetField()) == in.ID {
				e := formError{Field: in.ID, Label: t.label(in), Text: t.fieldError(in, v.GetCode()), Href: "#" + in.ID}
				if v.GetCode() == problem.FieldRequired && e.Text != t.T("error.required") {
					e.Label = ""
				}
				errs = append(errs, e)
				break
			}
		}
	}
	return errs
}

// fieldOf returns the input of a path such as recipient.address.postalCode, or nothing if there is none.
func fieldOf(path string) string {
	if path == fieldInitials {
		return path
	}
	if path == "productId" || strings.HasPrefix(path, "variations") {
		return fieldChoices
	}
	name := path[strings.LastIndexByte(path, '.')+1:]
	if slices.Contains(fieldNames, name) {
		return name
	}
	return ""
}

// fieldError returns the text of an error code at an input, or a general text if the input has none for the code. That an input is
// missing is said in the words of its label, which depends on the country.
func (t *texts) fieldError(in input, code string) string {
	key, keyOfLabel := "error."+in.ID+"."+code, "error."+in.LabelKey+"."+code
	switch {
	case t.Has(keyOfLabel):
		return t.T(keyOfLabel)
	case code == problem.FieldRequired && (t.label(in) != t.T(in.ID) || !t.Has(key)):
		return t.T("error.required")
	case t.Has(key):
		return t.T(key)
	case in.ID == fieldCountry:
		return t.T("error.country.invalid")
	case code == problem.FieldTooLong:
		return t.N("error.too_long", in.MaxLength)
	default:
		return t.T("error.invalid")
	}
}

// errorAt returns the text of the first error at a field.
func errorAt(errs []formError, field string) string {
	for _, e := range errs {
		if e.Field == field {
			return e.Text
		}
	}
	return ""
}
