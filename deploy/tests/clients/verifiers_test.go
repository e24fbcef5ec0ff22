package clients_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	// It embeds the guide: without it, go test would not notice that the guide has changed.
	_ "github.com/partnergifting/platform/gateway/docs"
)

// verifier is a program around the code of the guide of webhooks. It reads lines with a header and a body, and prints for each
// whether the signature is valid. CODE stands for the code of the guide.
type verifier struct {
	language string
	files    map[string]string
	// run are commands of a shell that have the secret as $1.
	run string
	// needs is a command that fails where the language is not installed.
	needs string
}

var verifiers = []verifier{
	{"sh", map[string]string{"main.sh": `CODE
while IFS="$(printf '\t')" read -r header body; do
  printf '%s' "$body" > body
  if verified "$1" "$header" body; then echo true; else echo false; fi
done
`}, `sh main.sh "$1"`, "openssl version"},
	{"typescript", map[string]string{"verified.ts": "CODE", "package.json": `{"type": "module"}`, "main.ts": `
import { createInterface } from "node:readline";
import { verified } from "./verified.ts";
for await (const line of createInterface({ input: process.stdin })) {
  const [header, body] = line.split("\t");
  console.log(verified(process.argv[2], header, Buffer.from(body)));
}
`}, `node main.ts "$1"`, `node -e 'process.exit(process.features.typescript ? 0 : 1)'`},
	{"python", map[string]string{"main.py": `CODE
import sys
for line in sys.stdin.buffer:
    header, _, body = line.rstrip(b"\n").partition(b"\t")
    print("true" if verified(sys.argv[1], header.decode(), body) else "false")
`}, `python3 main.py "$1"`, "python3 --version"},
	{"go", map[string]string{"go.mod": "module verifier\n\ngo 1.24\n", "verified.go": "package main\n\nCODE", "main.go": `package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

func main() {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		header, body, _ := strings.Cut(lines.Text(), "\t")
		fmt.Println(verified(os.Args[1], header, []byte(body)))
	}
}
`}, `GOWORK=off go run . "$1"`, "go version"},
	{"php", map[string]string{"main.php": `<?php
CODE
foreach (file('php://stdin', FILE_IGNORE_NEW_LINES) as $line) {
    [$header, $body] = explode("\t", $line);
    echo verified($argv[1], $header, $body) ? "true\n" : "false\n";
}
`}, `php main.php "$1"`, "php --version"},
	{"java", map[string]string{"Webhooks.java": "CODE", "Main.java": `
class Main {
    public static void main(String[] arguments) throws Exception {
        for (var line : new String(System.in.readAllBytes(), "UTF-8").split("\n")) {
            var parts = line.split("\t");
            System.out.println(Webhooks.verified(arguments[0], parts[0], parts[1].getBytes("UTF-8")));
        }
    }
}
`}, `javac -Xlint:all -Werror Main.java Webhooks.java && java Main "$1"`, "javac -version"},
	{"csharp", map[string]string{"Webhooks.cs": "CODE", "Program.cs": `
using System;
using System.IO;
using System.Text;

static class Program
{
    static void Main(string[] arguments)
    {
        using (var lines = new StreamReader(Console.OpenStandardInput(), Encoding.UTF8))
        {
            for (var line = lines.ReadLine(); line != null; line = lines.ReadLine())
            {
                var parts = line.Split('\t');
                Console.WriteLine(Webhooks.Verified(arguments[0], parts[0], Encoding.UTF8.GetBytes(parts[1])) ? "true" : "false");
            }
        }
    }
}
`}, `mcs -warn:4 -warnaserror Program.cs Webhooks.cs && mono Program.exe "$1"`, "mcs --version"},
	{"ruby", map[string]string{"main.rb": `CODE
$stdin.set_encoding("BINARY")
$stdin.each_line(chomp: true) do |line|
  header, body = line.split("\t")
  puts verified?(ARGV[0], header, body)
end
`}, `ruby -w main.rb "$1"`, "ruby --version"},
}

const secret = "7f3a1c5e9b2d4f6081a3c5e7092b4d6f8e0a2c4e6b8d0f1a3c5e7092b4d6f81a"

const body = `{"name": "Åsa", "n": 1.50}`

// signature signs the body as the platform does.
func signature(key string, at int64) string {
	mac := hmac.New(sha256.New, []byte(key))
	_, _ = fmt.Fprintf(mac, "%d.%s", at, body)
	return hex.EncodeToString(mac.Sum(nil))
}

type signedCase struct {
	name, header, body string
	want               bool
}

func signedCases(t *testing.T) []signedCase {
	t.Helper()
	now := time.Now().Unix()
	valid := signature(secret, now)
	other := signature(strings.Repeat("0", 64), now)
	decoded, err := hex.DecodeString(secret)
	require.NoError(t, err)
	at := func(at int64) string { return fmt.Sprintf("t=%d,v1=%s", at, signature(secret, at)) }
	return []signedCase{
		{"a valid signature", at(now), body, true},
		{"the new secret's signature, after the previous one's", fmt.Sprintf("t=%d,v1=%s,v1=%s", now, other, valid), body, true},
		{"the previous secret's signature, before the new one's", fmt.Sprintf("t=%d,v1=%s,v1=%s", now, valid, other), body, true},
		{"a signature of a later version", fmt.Sprintf("t=%d,v2=%s,v1=%s", now, other, valid), body, true},
		{"almost five minutes old", at(now - 270), body, true},
		{"more than five minutes old", at(now - 330), body, false},
		{"more than five minutes ahead", at(now + 330), body, false},
		{"another body", at(now), body + " ", false},
		{"another secret", fmt.Sprintf("t=%d,v1=%s", now, other), body, false},
		{"the decoded secret", fmt.Sprintf("t=%d,v1=%s", now, signature(string(decoded), now)), body, false},
		{"another time", fmt.Sprintf("t=%d,v1=%s", now-1, valid), body, false},
		{"a part of the signature", fmt.Sprintf("t=%d,v1=%s", now, valid[:10]), body, false},
		{"an empty signature", fmt.Sprintf("t=%d,v1=", now), body, false},
		{"a signature that is not ASCII", fmt.Sprintf("t=%d,v1=é%s", now, valid), body, false},
		{"another name", fmt.Sprintf("t=%d,v0=%s", now, valid), body, false},
		{"no signature", fmt.Sprintf("t=%d", now), body, false},
		{"no time", "v1=" + valid, body, false},
		{"a time that is no number", "t=now,v1=" + valid, body, false},
		{"no header of a signature", "x", body, false},
	}
}

// TestVerifiers runs the verifiers of the guide in the languages that are installed. `make clients` installs all.
func TestVerifiers(t *testing.T) {
	t.Parallel()
	for _, v := range verifiers {
		t.Run(v.language, func(t *testing.T) {
			t.Parallel()
			if exec.CommandContext(t.Context(), "sh", "-c", v.needs).Run() != nil {
				require.Empty(t, os.Getenv("GIFTING_CLIENTS"), "make clients installs %s", v.language)
				t.Skip("not installed") // `make clients` installs every language, and fails above if one is missing.
			}
			dir := t.TempDir()
			for name, content := range v.files {
				content = strings.ReplaceAll(content, "CODE", shownCode(t, v.language, "verified"))
				require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
			}
			cases := signedCases(t) // Their times count from now.
			var lines, want strings.Builder
			for _, c := range cases {
				fmt.Fprintf(&lines, "%s\t%s\n", c.header, c.body)
				fmt.Fprintf(&want, "%s: %t\n", c.name, c.want)
			}
			run := func(secret, lines string) []string {
				command := exec.CommandContext(t.Context(), "sh", "-c", v.run, "sh", secret)
				command.Dir, command.Stdin, command.Stderr = dir, strings.NewReader(lines), os.Stderr
				output, err := command.Output()
				require.NoError(t, err)
				return strings.Fields(string(output))
			}
			now := time.Now().Unix()
			forged := fmt.Sprintf("t=%d,v1=%s\t%s\n", now, signature("", now), body)
			require.Equal(t, []string{"false"}, run("", forged), "a secret that was not set")
			results := run(secret, lines.String())
			var got strings.Builder
			for i, c := range cases {
				require.Less(t, i, len(results))
				fmt.Fprintf(&got, "%s: %s\n", c.name, results[i])
			}
			require.Equal(t, want.String(), got.String())
		})
	}
}

// shownCode is the block of a language in the guide of webhooks that has a text, in lower or upper case.
func shownCode(t *testing.T, language, text string) string {
	t.Helper()
	guide, err := os.ReadFile("../../../gateway/docs/guides/webhooks.md")
	require.NoError(t, err)
	for _, found := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(string(guide), -1) {
		if strings.Contains(strings.ToLower(found[1]), text) {
			return found[1]
		}
	}
	require.Fail(t, "the guide has no such code", "%s with %s", language, text)
	return ""
}

// sendSigned sends the signed requests of the guide to a receiver, and returns what they print.
func sendSigned(t *testing.T, receiver string) string {
	t.Helper()
	script := strings.ReplaceAll(shownCode(t, "sh", "signed() {"), "http://localhost:3000", receiver)
	command := exec.CommandContext(t.Context(), "sh", "-c", script)
	command.Env = append(os.Environ(), "GIFTING_WEBHOOK_SECRET="+secret)
	output, err := command.CombinedOutput()
	require.NoError(t, err, "%s", output)
	return string(output)
}
