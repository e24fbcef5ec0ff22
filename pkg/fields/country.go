package fields

import "strings"

// assignedCountries holds the 249 officially assigned ISO 3166-1 alpha-2 codes, each followed by a space.
const assignedCountries = "AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS " +
	"BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES " +
	"ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM " +
	"IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME " +
	"MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG " +
	"PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY " +
	"SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW "

const postalCodeRequired = "SE NO DK FI IS DE FR NL BE AT CH ES IT PT PL GR CZ SK HU RO BG HR SI EE LT LV LU UA US CA MX BR " +
	"GB IN JP SG CN KR AU NZ TH MY ID PH VN ZA TR IL "

// IsCountry reports whether code is an assigned code in upper case.
func IsCountry(code string) bool { return listed(assignedCountries, code, 2) }

// PostalCodeRequired reports whether an address in the country needs a postal code (API specification, section POST /orders).
func PostalCodeRequired(code string) bool { return listed(postalCodeRequired, code, 2) }

// Countries lists the assigned codes in alphabetical order.
func Countries() []string { return strings.Fields(assignedCountries) }

// listed reports whether code has n letters and is in the list, in which a space follows each code.
func listed(list, code string, n int) bool {
	return len(code) == n && !strings.Contains(code, " ") && strings.Contains(list, code+" ")
}
