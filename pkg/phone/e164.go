package phone

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"sync"

	"github.com/nyaruka/phonenumbers"
)

// plan is what the library knows of the numbers of a country code.
type plan struct {
	lengths []int32
	// prefix is what may stand before a number within the country, such as a 0; nil if there is nothing.
	prefix *regexp.Regexp
}

// plans are by country code. They are made once, of the library's data.
var plans = sync.OnceValue(func() map[string]plan {
	found := map[string]plan{}
	data, err := phonenumbers.MetadataCollection()
	if err != nil {
		panic(fmt.Sprintf("data of phone numbers: %v", err)) // It is part of the program.
	}
	for _, of := range data.GetMetadata() {
		code := int(of.GetCountryCode())
		if of.GetId() != phonenumbers.GetRegionCodeForCountryCode(code) {
			continue // The library takes the rules of the main region of a code.
		}
		p := plan{lengths: of.GetGeneralDesc().GetPossibleLength()}
		if prefix := of.GetNationalPrefixForParsing(); prefix != "" {
			p.prefix = regexp.MustCompile("^(?:" + prefix + ")")
		}
		found[strconv.Itoa(code)] = p
	}
	return found
})

const maxCountryCode = 3

// planOf finds the country code at the beginning of the digits of an international number. No code is the beginning of another.
func planOf(digits string) (code string, of plan, ok bool) {
	for n := 1; n < min(maxCountryCode+1, len(digits)); n++ {
		if of, ok = plans()[digits[:n]]; ok {
			return digits[:n], of, true
		}
	}
	return "", plan{}, false
}

// has reports whether the digits behind the country code make an E.164 number of a possible length. It is false for numbers that
// the library might change, because they begin as if they were dialled within the country, and for all that are not possible. The
// library tries several forms of a number one after another, which took longer than all other checks of an order together.
func (p plan) has(digits string) bool {
	return slices.Contains(p.lengths, int32(len(digits))) && digits[0] != '0' && //nolint:gosec // At most 20.
		(p.prefix == nil || !p.prefix.MatchString(digits))
}
