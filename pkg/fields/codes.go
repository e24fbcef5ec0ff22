package fields

import (
	"slices"
	"strings"

	"golang.org/x/text/language"
)

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

// activeCurrencies holds the codes of currencies that are in use, each followed by a space: no metals, no funds, no codes for
// testing and none that were withdrawn. It is list one of ISO 4217 as amended until November 2026.
const activeCurrencies = "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF " +
	"CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD " +
	"HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL " +
	"LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP " +
	"PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT " +
	"TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VED VES VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW ZWG "

// withoutMinorUnits are those whose smallest unit is the currency's own.
const withoutMinorUnits = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF "

// IsCurrency reports whether code is that of a currency in use, in upper case.
func IsCurrency(code string) bool { return listed(activeCurrencies, code, 3) }

// HasMinorUnits reports whether amounts in the currency have decimals.
func HasMinorUnits(code string) bool { return !listed(withoutMinorUnits, code, 3) }

// Currencies lists the currencies in alphabetical order.
func Currencies() []string { return strings.Fields(activeCurrencies) }

// BaseLocale is the locale that every text has.
const BaseLocale = "en-US"

// LocaleFallbacks returns the locale and those that come closest to it by the inheritance of CLDR, then BaseLocale. A language
// without region also stands for the region where most of its speakers are: de-AT, de, de-DE, en-US. A tag that is not BCP 47 is
// only itself.
func LocaleFallbacks(tag string) []string {
	out := []string{tag}
	add := func(name string) {
		if name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	parsed, err := language.Raw.Parse(tag)
	if err == nil {
		for t := parsed; t != language.Und; t = t.Parent() {
			add(t.String())
			add(withLikelyRegion(t))
		}
	}
	add(BaseLocale)
	return out
}

// withLikelyRegion adds to a tag without region the one where most of its speakers are. It returns nothing for a tag with a region.
func withLikelyRegion(t language.Tag) string {
	base, script, region := t.Raw()
	if region.String() != "ZZ" {
		return ""
	}
	likely, _ := t.Region()
	parts := []any{base, likely}
	if script.String() != "Zzzz" {
		parts = append(parts, script)
	}
	full, err := language.Compose(parts...)
	if err != nil {
		return ""
	}
	return full.String()
}
