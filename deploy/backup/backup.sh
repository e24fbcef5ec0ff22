#!/bin/sh
# Backs up a PostgreSQL server of the platform, restores it, and tests that the newest backup can be restored. README.md says
# what to run when. It connects as libpq does: PGHOST, PGPORT, PGUSER, PGPASSFILE, PGSERVICE.
set -eu
umask 077

usage="usage:
  backup.sh archive PATH NAME        store a WAL file; for archive_command, with %p and %f
  backup.sh base [OPTION...]         take a base backup; the options are those of pg_basebackup
  backup.sh dump                     dump each of BACKUP_DATABASES
  backup.sh restore DIR [TIME]       prepare the data directory of a new server, as of TIME (2026-11-22T10:00:00Z) or the newest
  backup.sh load DATABASE TARGET     restore the newest dump of a database into the empty database TARGET
  backup.sh drill base|dump          restore the newest backup into a scratch server and check it
  backup.sh prune COUNT              keep the COUNT newest backups of each kind, and the WAL that they need

BACKUP_DIR        folder of the backups of one server
BACKUP_DATABASES  names of the databases, separated by spaces
BACKUP_MAX_AGE    drill: how old the backup and its newest row may be, in seconds; default 93600, 26 hours
BACKUP_SUPERUSER  drill: a superuser of the server; default postgres"

fail() {
	echo "backup.sh: $*" >&2
	exit 1
}

need() {
	for program; do
		command -v "$program" >/dev/null || fail "$program is not on the PATH: add the folder of PostgreSQL's programs"
	done
}

# Half of a backup has a name that nothing looks for, and is removed.
new='' scratch=''
clean_up() {
	[ -z "$scratch" ] || pg_ctl stop --pgdata="$scratch/data" --mode=immediate --silent >/dev/null 2>&1 || true
	[ -z "$new$scratch" ] || rm -rf "${new:-$scratch}" "${scratch:-$new}"
}
trap clean_up EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# begin KIND makes the folder that a backup is written to. mktemp replaces the letters X.
begin() {
	mkdir -p "$BACKUP_DIR/$1" || fail "cannot write to $BACKUP_DIR"
	new=$(mktemp -d "$BACKUP_DIR/$1/new.XXXXXX") || fail "cannot write to $BACKUP_DIR/$1"
}

# finish KIND NAME gives the backup its name. A base backup is named for its end, before which nothing can be restored; a dump for
# its begin, whose state it has.
finish() {
	[ ! -e "$BACKUP_DIR/$1/$2" ] || fail "$BACKUP_DIR/$1/$2 exists"
	sync
	mv "$new" "$BACKUP_DIR/$1/$2" || fail "cannot write to $BACKUP_DIR/$1"
	new=''
	echo "$BACKUP_DIR/$1/$2"
}

# server_time SECONDS prints the server's time in so many seconds, as the name of a backup.
server_time() {
	psql --no-psqlrc --no-password -Atqc "SELECT to_char(now() AT TIME ZONE 'utc' + interval '$1 s', 'YYYYMMDD\"T\"HH24MISS\"Z\"')" postgres ||
		fail "cannot ask the server for the time"
}

# backups KIND prints the names of all backups, the oldest first.
backups() {
	for one in "$BACKUP_DIR/$1"/[0-9]*Z; do
		[ ! -d "$one" ] || basename "$one"
	done
}

# newest KIND [NAME] prints the newest backup, that ended at NAME at the latest.
newest() {
	name=$(backups "$1" | awk -v until="${2-}" 'until == "" || $0 <= until' | tail -n 1)
	[ -n "$name" ] || fail "$BACKUP_DIR/$1 has no backup${2:+ that ended by $2}"
	echo "$BACKUP_DIR/$1/$name"
}

# A name that exists is good only if the content is the same: the server repeats a command that was interrupted. The command before
# may have ended before the name was on disk.
archive() {
	if [ -e "$BACKUP_DIR/wal/$2" ]; then
		cmp -s "$1" "$BACKUP_DIR/wal/$2" || fail "$BACKUP_DIR/wal/$2 exists, with another content: is it the archive of another server?"
		sync "$BACKUP_DIR/wal" || fail "cannot write $BACKUP_DIR/wal/$2"
		exit 0
	fi
	begin wal
	{ cp "$1" "$new/$2" && sync "$new/$2" && mv "$new/$2" "$BACKUP_DIR/wal/$2" && sync "$BACKUP_DIR/wal"; } ||
		fail "cannot write $BACKUP_DIR/wal/$2"
}

base() {
	need pg_basebackup pg_verifybackup psql
	begin base
	pg_basebackup --pgdata="$new" --checkpoint=fast --wal-method=stream --manifest-checksums=SHA256 --no-password "$@" ||
		fail "pg_basebackup failed, there is no new backup"
	pg_verifybackup --quiet "$new" || fail "the new backup is broken and was removed"
	name=$(server_time 1) # Rounded up.
	finish base "$name"
}

dump() {
	need pg_dump psql sha256sum
	name=$(server_time 0)
	begin dump
	for database in $databases; do
		pg_dump --format=custom --no-password --file="$new/$database.dump" "$database" || fail "pg_dump of $database failed, there is no new dump"
	done
	(cd "$new" && sha256sum -- *.dump >SHA256SUMS) || fail "cannot write to $new"
	finish dump "$name"
}

check_dump() {
	(cd "$1" && sha256sum --quiet --check SHA256SUMS) || fail "$1 is broken: its files are not those that were written"
}

load() {
	need pg_restore sha256sum
	from=$(newest dump)
	check_dump "$from"
	[ -e "$from/$1.dump" ] || fail "$from has no dump of $1"
	pg_restore --exit-on-error --single-transaction --no-owner --no-password --dbname="$2" "$from/$1.dump" || fail "$2 was not restored"
	echo "$2 has the content of $from/$1.dump"
}

# first_wal BASE prints the WAL file at which a base backup begins.
first_wal() { sed -n 's/^START WAL LOCATION: .* (file \([0-9A-F]*\))$/\1/p' "$1/backup_label"; }

# missing_wal BASE prints the last WAL file before a gap between the backup and the newest archived file. A server that finds a gap
# takes it for the end of the archive, and would lose the rest without an error. Files of an earlier timeline, which the
# server before a restore may have archived, fill no gap.
missing_wal() {
	size=$(pg_controldata "$1" | sed -n 's/^Bytes per WAL segment: *//p')
	{
		ls "$1/pg_wal"
		ls "$BACKUP_DIR/wal" 2>/dev/null || true
	} | awk -v first="$(first_wal "$1")" -v size="$size" '
		function value(hex, i, n) {
			for (i = 1; i <= length(hex); i++) n = n * 16 + index("0123456789ABCDEF", substr(hex, i, 1)) - 1
			return n
		}
		function number(file) { return value(substr(file, 9, 8)) * (4294967296 / size) + value(substr(file, 17, 8)) }
		function timeline(file) { return substr(file, 1, 8) }
		length($0) == 24 && /^[0-9A-F]+$/ && timeline($0) >= timeline(first) && number($0) >= number(first) { printf "%020d %s\n", number($0), $0 }' |
		sort -u | awk 'NR > 1 && $1 > last + 1 && !gap { gap = file } { last = $1; file = $2 } END { if (gap) print gap }'
}

# restore_base DIR [TIME] makes a data directory that recovers to TIME, or to the end of the archive, when its server starts.
restore_base() {
	need pg_verifybackup pg_controldata
	! [ -e "$1" ] || rmdir "$1" 2>/dev/null || fail "$1 is not empty"
	from=$(newest base "$(echo "${2-}" | tr -d ':-')")
	pg_verifybackup --quiet "$from" || fail "$from is broken"
	gap=$(missing_wal "$from")
	[ -z "$gap" ] || [ -n "${2-}" ] || fail "the WAL file after $gap is missing in $BACKUP_DIR/wal; only a restore to a time before it is possible"
	[ -z "$gap" ] || echo "backup.sh: the WAL file after $gap is missing in $BACKUP_DIR/wal; the server refuses to start if $2 is after it" >&2
	mkdir "$1.new" || fail "cannot make $1.new"
	new=$1.new
	cp -R "$from/." "$new" || fail "cannot write to $new"
	rm -f "$new/standby.signal"
	# A server that was itself restored still has the settings of that restore, such as its time.
	sed '/^restore_command/d; /^recovery_target/d' "$from/postgresql.auto.conf" >"$new/postgresql.auto.conf"
	{
		echo "restore_command = 'cp \"$BACKUP_DIR/wal/%f\" \"%p\"'"
		echo "recovery_target_action = 'promote'"
		[ -z "${2-}" ] || echo "recovery_target_time = '${2%Z}+00'" # PostgreSQL takes no name of a time zone here.
	} >>"$new/postgresql.auto.conf"
	: >"$new/recovery.signal"
	mv "$new" "$1"
	new=''
}

restore() {
	case ${2-} in
	'' | [0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:[0-9][0-9]:[0-9][0-9]Z) ;;
	*) fail "$2 is not a time like 2026-11-22T10:00:00Z" ;;
	esac
	restore_base "$@"
	echo "$1 is from $from; start a server on it and wait until pg_is_in_recovery() is false"
}

# check_age WHAT SECONDS
check_age() {
	[ "$2" -le "$max_age" ] || fail "$1 is stale: it is $2 seconds old, $max_age are allowed"
}

# start_scratch starts a server that only this user reaches, without the settings and the archive of the one that was backed up.
start_scratch() {
	cat >"$scratch/conf" <<-CONF
		listen_addresses = ''
		unix_socket_directories = '$scratch'
		port = 5432
		hba_file = '$scratch/hba'
		hot_standby = off
		fsync = off
	CONF
	echo 'local all all trust' >"$scratch/hba"
	unset PGSERVICE PGHOSTADDR PGDATABASE PGOPTIONS
	PGHOST=$scratch PGPORT=5432 PGUSER=$superuser
	export PGHOST PGPORT PGUSER
	pg_ctl start --pgdata="$scratch/data" --no-wait --silent --log="$scratch/log" --options="-c config_file=$scratch/conf"
	sleep 1
	# pg_ctl would not wait for the end of the recovery.
	until pg_isready --quiet; do
		pg_ctl status --pgdata="$scratch/data" >/dev/null || {
			grep -E 'FATAL|PANIC|ERROR' "$scratch/log" >&2 || cat "$scratch/log" >&2
			fail "$from cannot be restored: the server does not start"
		}
		sleep 1
	done
}

sql() { psql --no-psqlrc --no-password -v ON_ERROR_STOP=1 -Atq -F ' ' --dbname="$1"; }

# check_database NAME reads every row of every table, and prints the newest. That is at least the row of retention_clock, which any
# running instance moves, so that a database without changes is not stale.
check_database() {
	sql "$1" <<-'SQL' >"$scratch/migrations" || fail "$1 cannot be read"
		SELECT format('SELECT %L, max(version_id) FROM %I WHERE is_applied', tablename, tablename)
		  FROM pg_tables WHERE schemaname = 'public' AND tablename LIKE 'migrations\_%' ORDER BY 1
		\gexec
	SQL
	[ -s "$scratch/migrations" ] || fail "$1 has no tables of the platform"
	sql "$1" <<-'SQL' >"$scratch/rows" || fail "$1 cannot be read"
		SELECT format('SELECT %L, count(t.*) FROM %I t', tablename, tablename) FROM pg_tables WHERE schemaname = 'public' ORDER BY 1
		\gexec
	SQL
	sql "$1" <<-'SQL' >"$scratch/newest" || fail "$1 cannot be read"
		SELECT coalesce('SELECT floor(extract(epoch FROM max(at)))::bigint FROM (' ||
		         string_agg(format('SELECT max(%I) AS at FROM %I', column_name, table_name), ' UNION ALL ') || ') AS newest', 'SELECT NULL')
		  FROM information_schema.columns JOIN pg_tables ON tablename = table_name AND schemaname = table_schema
		 WHERE table_schema = 'public' AND column_name IN ('at', 'created_at', 'updated_at', 'last_time') AND data_type LIKE 'timestamp%'
		\gexec
	SQL
	if command -v pg_amcheck >/dev/null && [ "$(echo "SELECT count(*) FROM pg_available_extensions WHERE name = 'amcheck'" | sql "$1")" = 1 ]; then
		pg_amcheck --install-missing --no-password "$1" || fail "$1 is damaged"
	else
		echo "backup.sh: pg_amcheck is not installed, indexes are not checked" >&2
	fi
	echo "$1: $(awk '{ rows += $2 } END { print NR " tables, " rows + 0 " rows" }' "$scratch/rows"), $(tr '\n' ' ' <"$scratch/migrations")"
}

drill() {
	need initdb pg_ctl pg_isready psql createdb pg_restore
	[ "$(id -u)" != 0 ] || fail "a PostgreSQL server does not run as root: run the drill as another user"
	from=$(newest "$1")
	now=$(date +%s)
	at=$(basename "$from" | sed 's/\(....\)\(..\)\(..\)T\(..\)\(..\)\(..\)Z/\1-\2-\3 \4:\5:\6/')
	check_age "$from" $((now - $(date -u -d "$at" +%s)))
	scratch=$(mktemp -d)
	if [ "$1" = base ]; then
		restore_base "$scratch/data"
		# Other settings are those of the server that was backed up.
		recovery=$(sed -n '/^restore_command/p; /^recovery_target/p' "$scratch/data/postgresql.auto.conf")
		echo "$recovery" >"$scratch/data/postgresql.auto.conf"
		start_scratch
	else
		check_dump "$from"
		initdb --pgdata="$scratch/data" --username="$superuser" --auth=trust --encoding=UTF8 --no-sync >"$scratch/log" || fail "initdb failed"
		start_scratch
		for database in $databases; do
			[ -e "$from/$database.dump" ] || fail "$from has no dump of $database"
			createdb "$database"
			pg_restore --exit-on-error --no-owner --no-acl --dbname="$database" "$from/$database.dump" || fail "$from/$database.dump cannot be restored"
		done
	fi
	youngest=0
	for database in $databases; do
		check_database "$database"
		at=$(cat "$scratch/newest")
		[ "${at:-0}" -le "$youngest" ] || youngest=$at
	done
	check_age "the newest row of $from" $((now - youngest))
	echo "$from is whole: restored and checked in $(($(date +%s) - now)) s, its newest row is $((now - youngest)) s old"
}

prune() {
	need pg_archivecleanup
	[ "$1" -ge 1 ] || fail "at least one backup must be kept"
	for kind in base dump; do
		backups "$kind" | sort -r | tail -n "+$(($1 + 1))" | while read -r name; do
			mv "$BACKUP_DIR/$kind/$name" "$BACKUP_DIR/$kind/new.$name" # So that half of it does not look whole.
			rm -rf "$BACKUP_DIR/$kind/new.$name"
		done
	done
	# What a killed backup has left.
	find "$BACKUP_DIR" -mindepth 2 -maxdepth 2 -name 'new.*' -mtime +2 -prune -exec rm -rf {} +
	oldest=$(backups base | head -n 1)
	[ -z "$oldest" ] || ! [ -d "$BACKUP_DIR/wal" ] || pg_archivecleanup "$BACKUP_DIR/wal" "$(first_wal "$BACKUP_DIR/base/$oldest")"
}

command=${1-}
[ $# = 0 ] || shift
case $command:$# in
archive:2 | base:* | dump:0 | restore:[12] | load:2 | prune:1) ;;
drill:1) case $1 in base | dump) ;; *) fail "$usage" ;; esac ;;
*) fail "$usage" ;;
esac
[ -n "${BACKUP_DIR-}" ] || fail "BACKUP_DIR is not set"
case $BACKUP_DIR in
/*[\'\"\\%]* | [!/]*) fail "BACKUP_DIR must be an absolute path without quotes, backslashes and percent signs" ;;
esac
databases=${BACKUP_DATABASES-}
max_age=${BACKUP_MAX_AGE:-93600}
superuser=${BACKUP_SUPERUSER:-postgres}
case $command in
dump | drill) [ -n "$databases" ] || fail "BACKUP_DATABASES is not set" ;;
esac
"$command" "$@"
