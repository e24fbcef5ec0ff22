#!/usr/bin/env bash
# Draws the pictures of the demo again, into the folder images beside this one. It needs chromium.
set -euo pipefail
cd "$(dirname "$0")"
page=$(mktemp)
trap 'rm -f "$page"' EXIT
chromium --headless=new --no-sandbox --disable-gpu --allow-file-access-from-files --virtual-time-budget=600000 --dump-dom \
	"file://$PWD/take.html" 2> /dev/null > "$page"
if grep -o '<p>failed [^<]*' "$page"; then
	exit 1
fi
grep -o '<p>[a-z0-9-]* [a-z]* [A-Za-z0-9+/=]*' "$page" | sed 's/^<p>//' | while read -r name type content; do
	base64 --decode <<< "$content" > "../images/$name.${type/jpeg/jpg}"
done
