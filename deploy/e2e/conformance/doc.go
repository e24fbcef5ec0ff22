// Package conformance holds the promises of the API to the tests that show each of them.
//
// promises.txt states every promise in words of its own, by the sections of the API. A promise is kept by the test of
// deploy/e2e that bears its words, TestPlatform > conformance > section > promise, and by the tests that stand below it:
//
//	# section | its title
//	id promise
//	    package Test > subtest
//	    as id-of-another
//
// "as" says that the promise is one that stands elsewhere too. Check finds promises without a test, tests that are not
// there and tests of deploy/e2e that no promise has; Document shows promise and test side by side. Subtests are found by
// reading the source: their names must be written out, in the call or in the table it goes through.
//
// A test that does not run shows nothing. One behind a build tag is not there for Check, and one that can skip in the code of
// its own package is a fault, unless it skips through leaveOut of deploy/e2e: that one refuses to where the platform is this
// process's own. A run against another ends with the promises that were not checked there (Unchecked).
package conformance
