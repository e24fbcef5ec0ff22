package docs

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func converted(t *testing.T, markdown string) string {
	t.Helper()
	a, err := (&builder{}).convert(markdown)
	require.NoError(t, err)
	return string(a.HTML)
}

func TestTheKindsOfPartsOfCodeHaveClasses(t *testing.T) {
	t.Parallel()
	for language, want := range map[string]struct{ code, html string }{
		"go":         {`return "a"`, `<span class="tk">return </span><span class="ts">&#34;a&#34;</span>`},
		"typescript": {`const a = 1`, `<span class="tk">const </span>a = <span class="tn">1</span>`},
		"python":     {`def f():`, `<span class="tk">def </span><span class="tf">f</span>():`},
		"sh":         {`curl $URL # a`, `curl <span class="tn">$URL </span><span class="tc"># a</span>`},
		"json":       {`{"a": true}`, `{<span class="tf">&#34;a&#34;</span>: <span class="tk">true</span>}`},
		"http":       {"GET / HTTP/1.1\n", `<span class="tf">GET </span>/ <span class="tk">HTTP</span>/<span class="tn">1.1</span>`},
		"text":       {`<a> "b"`, `&lt;a&gt; &#34;b&#34;`},
		"unknown":    {`<a>`, `&lt;a&gt;`},
	} {
		require.Contains(t, converted(t, "```"+language+"\n"+want.code+"\n```"), `<pre tabindex="0"><code>`+want.html+"</code></pre>")
	}
}

func TestCodeInSeveralLanguagesIsInOneGroupWithCaptions(t *testing.T) {
	t.Parallel()
	html := converted(t, "```sh\na\n```\n\n```python\nb\n```\n\n```go\nc\n```\n\nText.\n\n```go\nd\n```\n\n```json\n1\n```\n")
	require.Regexp(t, `(?s)^<div class="tabs"><figure class="code"><figcaption>Shell<.*<figcaption>Python<.*<figcaption>Go<.*`+
		`</figure>\n</div>\n<p>Text.</p>\n<figure class="code"><figcaption>Go<.*<figcaption>JSON<`, html)
}

func TestTheOutputOfACommandSaysSo(t *testing.T) {
	t.Parallel()
	require.Contains(t, converted(t, "```sh\na\n```\n\n```text\nb\n```\n"), `<figure class="code output"><figcaption>The output has<`)
	require.Contains(t, converted(t, "```sh\na\n```\n\n```go\nc\n```\n\n```text\nb\n```\n"), "<figcaption>The response has<")
	require.Contains(t, converted(t, "```text\nb\n```\n"), `<figure class="code"><figcaption>Text<`)
}

func TestQuotesCanBeNotes(t *testing.T) {
	t.Parallel()
	require.Equal(t, "<blockquote class=\"warning\"><p><strong>Warning</strong></p>\n<p><code>a</code> and\nb.</p>\n</blockquote>\n",
		converted(t, "> [!WARNING]\n> `a` and\n> b.\n"))
	require.Equal(t, "<blockquote>\n<p>[!OTHER]\na</p>\n</blockquote>\n", converted(t, "> [!OTHER]\n> a\n"))
}

func TestHeadingsHaveALinkThatReadersCanCopy(t *testing.T) {
	t.Parallel()
	require.Equal(t, "<h1 id=\"a\">A</h1>\n"+
		`<div class="heading"><h2 id="c">B <code>&quot;d</code></h2><a href="#c" aria-label="Link to B &#34;d">#</a></div>`+"\n",
		converted(t, "# A\n\n## B `\"d` {#c}\n"))
}
