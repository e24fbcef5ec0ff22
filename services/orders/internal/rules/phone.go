package rules

import (
	"regexp"
	"strings"

	"github.com/nyaruka/phonenumbers"
)

var (
	phoneSeparators = strings.NewReplacer(" ", "", "-", "", ".", "", "(", "", ")", "")
	international   = regexp.MustCompile(`^\+[1-9][0-9]{3,19}$`)
)

// Phone reads an international number and gives it as E.164. Separators are dropped; the number
// must have a possible length for its country code.
func Phone(text string) (string, bool) {
	compact := phoneSeparators.Replace(strings.TrimSpace(text))
	if !international.MatchString(compact) {
		return "", false
	}
	number, err := phonenumbers.Parse(compact, "")
	if err != nil || phonenumbers.IsPossibleNumberWithReason(number) != phonenumbers.IS_POSSIBLE {
		return "", false
	}
	return phonenumbers.Format(number, phonenumbers.E164), true
}
