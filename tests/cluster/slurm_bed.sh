# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# slurm_bed.sh - a Slurm cluster of one machine for tests: munged, slurmctld and several slurmd, all on loopback and of
# the one who runs the test; sourced by tests of tests/cluster with bash.
#
#   bed_missing             says which program is missing, and is true then
#   bed_start [NODES]       starts all in a new folder $bed (2 nodes, n1 and so on) and waits until the nodes are idle
#   bed_wait WHAT CMD...    runs CMD until it is true; after BED_PATIENCE seconds (600) it fails with what it waited for
#                           and the logs, and ends the test
#   bed_restart_controller  ends slurmctld by SIGKILL and starts it with the state that it has saved
#   bed_hasten              requeued jobs may start at once, and not when the credential of their last run has expired
#   bed_ids JOB...          the processes of these jobs ("7", "7_3"), one id a line
#   bed_stop                ends all of it, by id
#
# A process in a session of its own does what bed_stop does when the test ends without it, however that was.

bed=
BED_PATIENCE=${BED_PATIENCE:-600}

bed_missing()
{
	local p

	for p in munged slurmctld slurmd sbatch squeue scancel scontrol setsid; do
		if ! command -v "$p" >/dev/null && [ ! -x "/usr/sbin/$p" ]; then
			echo "$p is not installed (tools/setup.sh ci installs it)"
			return 0
		fi
	done
	return 1
}

# The processes that have the bed's configuration in their environment: the daemons, their job steps and what jobs
# started. No other process has this folder's name there.
bed_processes()
{
	local d self

	for d in /proc/[0-9]*; do
		self=${d#/proc/}
		[ "$self" != "$$" ] && [ "$self" != "$BASHPID" ] &&
			grep -qzxF "SLURM_CONF=$bed/slurm.conf" "$d/environ" 2>/dev/null && echo "$self"
	done
}

# Ends what belongs to the bed but the test itself ($1) and removes the folder. New processes may appear while one looks.
bed_end()
{
	local test=$1 i ids id

	for i in 1 2 3 4 5 6 7 8 9 10; do
		ids=$(bed_processes 2>/dev/null)
		for id in $ids; do
			[ "$id" = "$test" ] || kill -KILL "$id" 2>/dev/null
		done
		[ -n "${ids//$test/}" ] || break
		sleep 0.2
	done
	rm -rf "$bed"
}

# When a process began, in ticks: an id is used again, and this is not.
bed_began()
{
	local line

	read -r line <"/proc/$1/stat" 2>/dev/null || return 1
	# shellcheck disable=SC2086 # fields are words
	set -- ${line##*) }
	echo "${20}"
}

# In a session of its own, so that what ends the test's group does not end it too.
bed_guard()
{
	local test=$$ began

	began=$(bed_began "$test")
	export -f bed_processes bed_end bed_began
	# shellcheck disable=SC2016 # it expands there
	env -u SLURM_CONF bed="$bed" setsid bash -c '
		while [ -d "$bed" ] && [ "$(bed_began "$1")" = "$2" ]; do sleep 1; done
		[ ! -d "$bed" ] || bed_end "$1"' bed_guard "$test" "$began" </dev/null >/dev/null 2>&1 &
	disown
}

# Ports that nobody listens on now, below those that the system gives away.
bed_ports()
{
	local n=$1 port=$((20000 + (RANDOM * 32768 + RANDOM) % 12000)) found=0

	bed_port=()
	while [ $found -lt "$n" ]; do
		port=$((port + 1))
		if ! grep -qi ":$(printf %04X $port) .* 0A " /proc/net/tcp /proc/net/tcp6 2>/dev/null; then
			bed_port+=("$port")
			found=$((found + 1))
		fi
	done
}

# Credentials live for ten minutes: with seconds, a loaded machine would come too late with a job that it was given.
bed_configure()
{
	local nodes=$1 host user ports

	host=$(hostname -s) user=$(id -un)
	bed_ports $((nodes + 1))
	ports=$(IFS=,; echo "${bed_port[*]:1}")
	cat >"$bed/slurm.conf" <<-CONF
		ClusterName=bed
		SlurmctldHost=$host(127.0.0.1)
		SlurmctldPort=${bed_port[0]}
		SlurmUser=$user
		SlurmdUser=$user
		AuthType=auth/munge
		CredType=cred/munge
		AuthInfo=socket=$bed/munge.socket,ttl=3600,cred_expire=600
		StateSaveLocation=$bed/state
		SlurmdSpoolDir=$bed/spool/%n
		SlurmctldPidFile=$bed/slurmctld.pid
		SlurmdPidFile=$bed/%n.pid
		SlurmctldLogFile=$bed/slurmctld.log
		SlurmdLogFile=$bed/%n.log
		SlurmctldDebug=info
		SlurmdDebug=info
		MailProg=/bin/true
		MpiDefault=none
		ProctrackType=proctrack/pgid
		TaskPlugin=task/none
		JobAcctGatherType=jobacct_gather/none
		AccountingStorageType=accounting_storage/none
		SelectType=select/cons_tres
		SelectTypeParameters=CR_Core
		SchedulerType=sched/backfill
		SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0,bf_interval=1,default_queue_depth=1000
		ReturnToService=2
		KillWait=60
		MessageTimeout=100
		SlurmctldTimeout=600
		SlurmdTimeout=600
		BatchStartTimeout=600
		UnkillableStepTimeout=600
		MinJobAge=86400
		MaxArraySize=${BED_ARRAY:-1001}
		JobRequeue=1
		NodeName=n[1-$nodes] NodeHostname=$host NodeAddr=127.0.0.1 Port=[$ports] CPUs=${BED_CPUS:-2} State=UNKNOWN
		PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
	CONF
}

bed_controller()
{
	slurmctld -D </dev/null >>"$bed/slurmctld.out" 2>&1 &
	bed_ctld=$!
	disown
}

# shellcheck disable=SC2317 # bed_wait calls it
bed_munge_answers() { [ -S "$bed/munge.socket" ] && munge -n -S "$bed/munge.socket" 2>/dev/null | unmunge -S "$bed/munge.socket" >/dev/null 2>&1; }
# shellcheck disable=SC2317
bed_controller_answers() { scontrol ping 2>/dev/null | grep -q 'is UP'; }
# shellcheck disable=SC2317
bed_nodes_idle() { [ "$(sinfo -h -N -t idle -o %N 2>/dev/null | sort -u | wc -l)" -eq "$1" ]; }

bed_start()
{
	local nodes=${1:-2} try i

	PATH=$PATH:/usr/sbin:/sbin
	unset "${!SLURM_@}" "${!SBATCH_@}" "${!SQUEUE_@}" "${!SACCT_@}" 2>/dev/null
	bed=$(mktemp -d /tmp/slurm-bed-XXXXXX) || exit 5
	export SLURM_CONF=$bed/slurm.conf
	bed_guard
	(umask 077 && head -c 1024 /dev/urandom >"$bed/munge.key")
	# --force: the folder of a test may belong to anyone whom munged would not trust for a whole cluster.
	munged -F --force --key-file="$bed/munge.key" --socket="$bed/munge.socket" --pid-file="$bed/munged.pid" \
		--log-file="$bed/munged.log" --seed-file="$bed/munged.seed" --num-threads=4 </dev/null >"$bed/munged.out" 2>&1 &
	disown
	bed_wait "munged" bed_munge_answers
	# Another one may have taken a port since: then with others.
	for try in 1 2 3 4 5; do
		mkdir -p "$bed/state" "$bed/spool"
		bed_configure "$nodes"
		: >"$bed/slurmctld.log"
		bed_controller
		bed_slurmd=()
		for i in $(seq "$nodes"); do
			mkdir -p "$bed/spool/n$i"
			slurmd -D -N "n$i" </dev/null >>"$bed/n$i.out" 2>&1 &
			bed_slurmd+=($!)
			disown
		done
		bed_wait "slurmctld and slurmd to come up or end" bed_is_up_or_gone
		bed_all_live && break
		kill -KILL "$bed_ctld" "${bed_slurmd[@]}" 2>/dev/null
		rm -rf "$bed/state" "$bed/spool"
		[ "$try" -lt 5 ] || bed_fail "slurmctld or slurmd does not start"
	done
	bed_wait "$nodes idle nodes" bed_nodes_idle "$nodes"
}

bed_all_live()
{
	local p

	for p in "$bed_ctld" "${bed_slurmd[@]}"; do
		kill -0 "$p" 2>/dev/null || return 1
	done
}

# shellcheck disable=SC2317
bed_is_up_or_gone() { ! bed_all_live || { bed_controller_answers && bed_nodes_idle ${#bed_slurmd[@]}; }; }

# bed_fail WHY: the logs, and the end of the test.
bed_fail()
{
	local f

	echo "not ok - $1"
	squeue -r 2>&1 | head -n 30 | sed 's/^/#   squeue: /'
	for f in "$bed"/*.out "$bed"/*.log; do
		echo "# $f:"
		tail -n "${BED_LOG_LINES:-60}" "$f" 2>/dev/null | sed 's/^/#   /'
	done
	bed_stop
	exit 1
}

bed_wait()
{
	local what=$1 end=$((SECONDS + BED_PATIENCE)) said=$((SECONDS + 5))
	shift

	until "$@"; do
		if [ $SECONDS -ge $end ]; then
			bed_fail "after $BED_PATIENCE s still waiting for $what"
		fi
		if [ $SECONDS -ge $said ]; then
			echo "# waiting for $what"
			said=$((SECONDS + 60))
		fi
		sleep 0.1
	done
}

# shellcheck disable=SC2317
bed_is_gone() { ! kill -0 "$1" 2>/dev/null; }

bed_restart_controller()
{
	local old=$bed_ctld

	kill -KILL "$old"
	bed_wait "the end of slurmctld" bed_is_gone "$old"
	bed_controller
	bed_wait "the restarted slurmctld" bed_controller_answers
}

# A requeued job is held back for as long as the credential of its last run is valid. Before that run has ended (each has a
# socket in the folder of its node) it may not begin: slurmd would refuse it, and its node would be drained.
bed_hasten()
{
	local id

	for id in $(squeue -h -r -t PENDING -o '%A %r' 2>/dev/null | sed -n 's/ BeginTime$//p'); do
		[ -n "$(find "$bed/spool" -name "*_$id.*" -print -quit 2>/dev/null)" ] ||
			scontrol update "JobId=$id" StartTime=now >/dev/null 2>&1
	done
	# slurmd forgets an ended run a moment later than that, and after a failure of its node nobody waits for it: then what an
	# administrator does.
	for id in $(sinfo -h -N -o '%N %E' 2>/dev/null | sed -n 's/ Duplicate jobid.*//p' | sort -u); do
		scontrol update "NodeName=$id" State=RESUME >/dev/null 2>&1
	done
	for id in $(squeue -h -r -t PENDING -o '%A %r' 2>/dev/null | sed -n 's/ launch failed requeued held$//p'); do
		scontrol release "$id" >/dev/null 2>&1
	done
	return 0
}

# The environment of a job's processes names it, that of slurmstepd too; the first is a shell in a session of its own.
bed_ids()
{
	local job d

	for job; do
		for d in /proc/[0-9]*; do
			if [ "$job" = "${job%_*}" ]; then
				grep -qzxF "SLURM_JOB_ID=$job" "$d/environ" 2>/dev/null
			else
				grep -qzxF "SLURM_ARRAY_JOB_ID=${job%_*}" "$d/environ" 2>/dev/null &&
					grep -qzxF "SLURM_ARRAY_TASK_ID=${job#*_}" "$d/environ" 2>/dev/null
			fi && grep -qzxF "SLURM_CONF=$bed/slurm.conf" "$d/environ" 2>/dev/null && echo "${d#/proc/}"
		done
	done
	return 0
}

bed_stop()
{
	[ -n "$bed" ] || return 0
	bed_end $$
	bed=
}
