package fields

import "strings"

// activeCurrencies holds the codes of currencies that are in use, each followed by a space: no metals, no funds, no codes for testing and none
// that were withdrawn. It is list one of ISO 4217 as amended until November 2026.
const activeCurrencies = "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF " +
	"CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD " +
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
