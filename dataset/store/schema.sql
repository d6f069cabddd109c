-- SPDX-License-Identifier: Apache-2.0
-- schema.sql - the tables of a dataset, as migrations.
--
-- A line "-- migration N" begins what brings a database from version N-1 to N. Migrations run in order in one
-- transaction; PRAGMA user_version holds the version reached. A migration that has been released never
-- changes: later changes are new migrations.
--
-- Rows have small integer keys; every table also has a unique key made of content (a hash, or keys of other
-- tables), so that storing the same thing twice changes nothing. Times are seconds since 1970.

-- migration 1

-- One model file, named by the SHA-256 of its bytes; the same file under two paths is one model.
CREATE TABLE models (
	id INTEGER PRIMARY KEY,
	sha256 TEXT NOT NULL UNIQUE CHECK (length(sha256) = 64),
	path TEXT NOT NULL,
	name TEXT NOT NULL,
	opset INTEGER NOT NULL DEFAULT 0,
	n_nodes INTEGER NOT NULL DEFAULT 0,
	n_opaque INTEGER NOT NULL DEFAULT 0,
	status TEXT NOT NULL CHECK (status IN ('done', 'failed')),
	error TEXT NOT NULL DEFAULT '',
	created INTEGER NOT NULL DEFAULT (CAST(strftime('%s', 'now') AS INTEGER))
);

-- Names of operators in execution order, separated by commas.
CREATE TABLE op_seqs (
	id INTEGER PRIMARY KEY,
	text TEXT NOT NULL UNIQUE
);

-- Every graph that is stored: extracted subgraphs and the members of tasks. `hash` is the hash of the
-- canonical form with everything in it, `structure` and `shapes` are the coarser ones (ir/canon/canon.h).
CREATE TABLE subgraphs (
	id INTEGER PRIMARY KEY,
	hash TEXT NOT NULL UNIQUE CHECK (length(hash) = 64),
	structure TEXT NOT NULL CHECK (length(structure) = 64),
	shapes TEXT NOT NULL CHECK (length(shapes) = 64),
	kind TEXT NOT NULL,
	n_nodes INTEGER NOT NULL,
	op_seq INTEGER NOT NULL REFERENCES op_seqs (id),
	text TEXT NOT NULL
);
CREATE INDEX subgraphs_structure ON subgraphs (structure);
CREATE INDEX subgraphs_op_seq ON subgraphs (op_seq);

-- Where subgraphs come from, many to many. `nodes` lists the node numbers in the imported model,
-- ascending, with commas; first_node and last_node are its ends.
CREATE TABLE occurrences (
	model INTEGER NOT NULL REFERENCES models (id) ON DELETE CASCADE,
	subgraph INTEGER NOT NULL REFERENCES subgraphs (id) ON DELETE CASCADE,
	first_node INTEGER NOT NULL,
	last_node INTEGER NOT NULL,
	nodes TEXT NOT NULL,
	PRIMARY KEY (model, subgraph, nodes)
) WITHOUT ROWID;
CREATE INDEX occurrences_subgraph ON occurrences (subgraph);

-- How often a subgraph occurs in a model.
CREATE VIEW provenance AS
	SELECT model, subgraph, count(*) AS count, min(first_node) AS first_node
	FROM occurrences GROUP BY model, subgraph;

-- A benchmark task, named by the hash of its kind and its members' hashes.
CREATE TABLE tasks (
	id INTEGER PRIMARY KEY,
	hash TEXT NOT NULL UNIQUE CHECK (length(hash) = 64),
	name TEXT NOT NULL,
	kind TEXT NOT NULL,
	created INTEGER NOT NULL DEFAULT (CAST(strftime('%s', 'now') AS INTEGER))
);
CREATE INDEX tasks_name ON tasks (name);

CREATE TABLE members (
	task INTEGER NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
	ordinal INTEGER NOT NULL CHECK (ordinal >= 0),
	subgraph INTEGER NOT NULL REFERENCES subgraphs (id),
	label TEXT NOT NULL,
	shape INTEGER NOT NULL,
	dtype TEXT NOT NULL,
	PRIMARY KEY (task, ordinal),
	UNIQUE (task, subgraph)
) WITHOUT ROWID;
CREATE INDEX members_subgraph ON members (subgraph);

-- One evaluation of one pass. `key` is the hash of what decides its outcome, so that a run that was
-- interrupted is found again.
CREATE TABLE runs (
	id INTEGER PRIMARY KEY,
	key TEXT NOT NULL UNIQUE CHECK (length(key) = 64),
	task INTEGER REFERENCES tasks (id) ON DELETE CASCADE,
	pass_path TEXT NOT NULL,
	pass_sha256 TEXT NOT NULL,
	device TEXT NOT NULL,
	seed TEXT NOT NULL,
	version TEXT NOT NULL,
	options TEXT NOT NULL,
	started INTEGER NOT NULL,
	finished INTEGER
);

CREATE TABLE results (
	run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
	task INTEGER NOT NULL,
	ordinal INTEGER NOT NULL,
	verdict TEXT NOT NULL,
	stage TEXT NOT NULL,
	speedup REAL,
	json TEXT NOT NULL,
	PRIMARY KEY (run, task, ordinal),
	FOREIGN KEY (task, ordinal) REFERENCES members (task, ordinal) ON DELETE CASCADE
) WITHOUT ROWID;
CREATE INDEX results_member ON results (task, ordinal);

-- migration 2

-- A graph may be several things at once: a fusible subgraph of one model and a variant of another's.
CREATE TABLE kinds (
	subgraph INTEGER NOT NULL REFERENCES subgraphs (id) ON DELETE CASCADE,
	kind TEXT NOT NULL,
	PRIMARY KEY (kind, subgraph)
) WITHOUT ROWID;
CREATE INDEX kinds_subgraph ON kinds (subgraph);
INSERT INTO kinds (subgraph, kind) SELECT id, kind FROM subgraphs;
ALTER TABLE subgraphs DROP COLUMN kind;

-- Operators, size classes and element types of the inputs (dataset/store/bucket.h).
CREATE TABLE buckets (
	id INTEGER PRIMARY KEY,
	op_seq INTEGER NOT NULL REFERENCES op_seqs (id),
	shapes TEXT NOT NULL,
	dtypes TEXT NOT NULL,
	UNIQUE (op_seq, shapes, dtypes)
);
ALTER TABLE subgraphs ADD COLUMN bucket INTEGER REFERENCES buckets (id);
CREATE INDEX subgraphs_bucket ON subgraphs (bucket);

-- What a task is for ('eval', 'train', 'held out', '' for one made by hand), how its graphs were grouped, how
-- hard it looks, and what the gate said: '' not asked, 'ok', or the rule that it breaks; details as JSON.
ALTER TABLE tasks ADD COLUMN split TEXT NOT NULL DEFAULT '';
ALTER TABLE tasks ADD COLUMN policy TEXT NOT NULL DEFAULT '';
ALTER TABLE tasks ADD COLUMN stratum TEXT NOT NULL DEFAULT '';
ALTER TABLE tasks ADD COLUMN gate TEXT NOT NULL DEFAULT '';
ALTER TABLE tasks ADD COLUMN gate_json TEXT NOT NULL DEFAULT '';
CREATE INDEX tasks_split ON tasks (split);

-- The extracted graph that a member is a variant of; NULL in tasks made before version 2.
ALTER TABLE members ADD COLUMN base INTEGER REFERENCES subgraphs (id);
CREATE INDEX members_base ON members (base);
CREATE INDEX runs_task ON runs (task);
CREATE INDEX models_status ON models (status);

-- Graphs that make no task, so that a build that is run again does not try them again. `key` is the hash of the
-- graph and of the options it was tried with.
CREATE TABLE rejected (
	key TEXT PRIMARY KEY CHECK (length(key) = 64),
	subgraph INTEGER NOT NULL REFERENCES subgraphs (id) ON DELETE CASCADE,
	rule TEXT NOT NULL,
	why TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX rejected_subgraph ON rejected (subgraph);

-- migration 3

-- What `passmith validate` found of a model: one row for each constraint. Models are named by the SHA-256 of their
-- bytes, so that they may be checked before anything is extracted from them. `options` is what the checks were asked
-- with: rows of other options are replaced.
CREATE TABLE constraints (
	sha256 TEXT NOT NULL CHECK (length(sha256) = 64),
	name TEXT NOT NULL,
	verdict TEXT NOT NULL CHECK (verdict IN ('holds', 'broken', 'undecided')),
	why TEXT NOT NULL,
	options TEXT NOT NULL,
	PRIMARY KEY (sha256, name)
) WITHOUT ROWID;
CREATE INDEX constraints_verdict ON constraints (name, verdict);

-- How the reference ran a graph that is a member of a task: 'whole' as it is; 'twin' at smaller sizes, because it costs
-- more than the budget; 'failed'. `why` says which sizes, or the reason.
CREATE TABLE ref_runs (
	subgraph INTEGER PRIMARY KEY REFERENCES subgraphs (id) ON DELETE CASCADE,
	how TEXT NOT NULL CHECK (how IN ('whole', 'twin', 'failed')),
	why TEXT NOT NULL
);
CREATE INDEX ref_runs_how ON ref_runs (how);

-- migration 4

-- What of a machine decides a run's results (bench/eval/run_key.h), part of `key`; '' in runs stored before version 4, whose
-- results can be read and are not resumed.
ALTER TABLE runs ADD COLUMN machine TEXT NOT NULL DEFAULT '';
-- What became of the pass on hidden shapes: '' not tried, 'OK', or the verdict by which no result of the run counts as
-- right; and all of it as JSON.
ALTER TABLE runs ADD COLUMN hidden TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN hidden_json TEXT NOT NULL DEFAULT '';

-- migration 5

-- "Member" was another word for a variant of a task. The view answers questions that were written before.
ALTER TABLE members RENAME TO variants;
CREATE VIEW members AS
	SELECT task, ordinal, subgraph, label, shape, dtype, base FROM variants;

-- migration 6

-- A graph that was run at smaller sizes was run as its proxy; 'twin' was another word for it. A table is made anew to change
-- what a column may hold.
CREATE TABLE ref_runs_new (
	subgraph INTEGER PRIMARY KEY REFERENCES subgraphs (id) ON DELETE CASCADE,
	how TEXT NOT NULL CHECK (how IN ('whole', 'proxy', 'failed')),
	why TEXT NOT NULL
);
INSERT INTO ref_runs_new SELECT subgraph, CASE how WHEN 'twin' THEN 'proxy' ELSE how END, why FROM ref_runs;
DROP TABLE ref_runs;
ALTER TABLE ref_runs_new RENAME TO ref_runs;
CREATE INDEX ref_runs_how ON ref_runs (how);

-- migration 7

-- What an agent did: a session of the protocol server ('mcp') or one sample of the driver ('agent'). `key` is the hash of
-- kind, task, model, seed, version, machine, experiment and instance, so that a sample that was cut off is found again. A
-- row without an end is of a session that goes on or was cut off.
CREATE TABLE trajectories (
	id INTEGER PRIMARY KEY,
	key TEXT NOT NULL UNIQUE CHECK (length(key) = 64),
	kind TEXT NOT NULL CHECK (kind IN ('mcp', 'agent')),
	task TEXT NOT NULL,
	model TEXT NOT NULL,
	seed TEXT NOT NULL,
	version TEXT NOT NULL,
	machine TEXT NOT NULL,
	experiment TEXT NOT NULL,
	instance TEXT NOT NULL,
	options TEXT NOT NULL,
	started REAL NOT NULL,
	ended REAL,
	outcome TEXT NOT NULL DEFAULT ''
);
CREATE INDEX trajectories_task ON trajectories (task);
CREATE INDEX trajectories_experiment ON trajectories (experiment);

-- The steps of trajectories, appended one by one. `hash` is the hash of the step and of the hash of the step before it.
-- The long columns come last: what counts steps does not read them.
CREATE TABLE steps (
	trajectory INTEGER NOT NULL REFERENCES trajectories (id) ON DELETE CASCADE,
	ordinal INTEGER NOT NULL CHECK (ordinal >= 0),
	hash TEXT NOT NULL CHECK (length(hash) = 64),
	role TEXT NOT NULL CHECK (role IN ('system', 'user', 'assistant', 'tool')),
	name TEXT NOT NULL,
	task TEXT NOT NULL,
	report TEXT NOT NULL,
	verdict TEXT NOT NULL,
	score REAL,
	at REAL NOT NULL,
	seconds REAL,
	tokens_in INTEGER,
	tokens_out INTEGER,
	money REAL,
	json TEXT NOT NULL,
	files TEXT NOT NULL,
	PRIMARY KEY (trajectory, ordinal)
) WITHOUT ROWID;
CREATE INDEX steps_task ON steps (task);

-- migration 8

-- What is known of a task besides its content: 'suite' and 'level' of a published benchmark, for example. No part of
-- the task's hash.
CREATE TABLE task_tags (
	task INTEGER NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
	key TEXT NOT NULL,
	value TEXT NOT NULL,
	PRIMARY KEY (task, key)
) WITHOUT ROWID;
CREATE INDEX task_tags_value ON task_tags (key, value);

-- migration 9

-- The category of a graph by the rules of ir/category/categories.def; rows made before are filled in by
-- pm__subgraphs_fill_categories.
ALTER TABLE subgraphs ADD COLUMN category TEXT NOT NULL DEFAULT '';
CREATE INDEX subgraphs_category ON subgraphs (category);

-- migration 10

-- The category of a model as a whole, by the same rules. A database holds no graph of its models: rows made before
-- stay empty until the model is extracted again.
ALTER TABLE models ADD COLUMN category TEXT NOT NULL DEFAULT '';

-- migration 11

-- Work that goes on now: a row for each process that evaluates into this file, on any host that has it open. The process
-- writes its heartbeat while it works, and takes its row away when it is done. One that was killed leaves its row, and the
-- age of the heartbeat says so: a process of another host cannot be asked. `parent` is the process of the command that it is
-- a part of, 0 for the command itself; `task` is NULL and pass_path '' for a command of several tasks.
CREATE TABLE running (
	host TEXT NOT NULL,
	pid INTEGER NOT NULL,
	began REAL NOT NULL,
	parent INTEGER NOT NULL,
	task INTEGER REFERENCES tasks (id) ON DELETE CASCADE,
	pass_path TEXT NOT NULL,
	device TEXT NOT NULL,
	stage TEXT NOT NULL,
	done INTEGER NOT NULL,
	total INTEGER NOT NULL,
	heartbeat REAL NOT NULL,
	PRIMARY KEY (host, pid, began)
) WITHOUT ROWID;
CREATE INDEX running_task ON running (task);

-- migration 12

-- What passes made of graphs. A rewritten graph is stored once, however many results it is of, and names the sources of
-- its kernels by their digests; a source is stored once, too. Graphs of the results of a run that have the same `code`
-- differ in shapes, element types, grids and what sources say alone: only the first is stored, and all results name it.
CREATE TABLE kernel_sources (
	id INTEGER PRIMARY KEY,
	sha256 TEXT NOT NULL UNIQUE CHECK (length(sha256) = 64),
	text TEXT NOT NULL
);
CREATE TABLE rewrites (
	id INTEGER PRIMARY KEY,
	hash TEXT NOT NULL UNIQUE CHECK (length(hash) = 64),
	code TEXT NOT NULL CHECK (length(code) = 64),
	text TEXT NOT NULL
);
CREATE TABLE rewrite_sources (
	rewrite INTEGER NOT NULL REFERENCES rewrites (id) ON DELETE CASCADE,
	ordinal INTEGER NOT NULL CHECK (ordinal >= 0),
	source INTEGER NOT NULL REFERENCES kernel_sources (id),
	PRIMARY KEY (rewrite, ordinal)
) WITHOUT ROWID;
CREATE INDEX rewrite_sources_source ON rewrite_sources (source);
ALTER TABLE results ADD COLUMN rewrite INTEGER REFERENCES rewrites (id);
CREATE INDEX results_rewrite ON results (rewrite);

-- What `passmith profile` found of the kernels of a pass on a variant: one row for each pass, variant and set of options. A
-- later profile takes its place.
CREATE TABLE profiles (
	task INTEGER NOT NULL,
	ordinal INTEGER NOT NULL,
	pass_sha256 TEXT NOT NULL CHECK (length(pass_sha256) = 64),
	options TEXT NOT NULL,
	pass_path TEXT NOT NULL,
	version TEXT NOT NULL,
	json TEXT NOT NULL,
	PRIMARY KEY (task, ordinal, pass_sha256, options),
	FOREIGN KEY (task, ordinal) REFERENCES variants (task, ordinal) ON DELETE CASCADE
) WITHOUT ROWID;

-- migration 13

-- Whole models that passes rewrote. `key` is a hash of everything but the path and the time of storing, so that the same
-- result is one row. `record` is what `apply --json` prints. The texts draw both graphs; they are empty when they are long.
CREATE TABLE applications (
	id INTEGER PRIMARY KEY,
	key TEXT NOT NULL UNIQUE CHECK (length(key) = 64),
	model_sha256 TEXT NOT NULL CHECK (length(model_sha256) = 64),
	name TEXT NOT NULL,
	path TEXT NOT NULL,
	version TEXT NOT NULL,
	created INTEGER NOT NULL DEFAULT (CAST(strftime('%s', 'now') AS INTEGER)),
	record TEXT NOT NULL,
	before_text TEXT NOT NULL,
	after_text TEXT NOT NULL
);
CREATE INDEX applications_model ON applications (model_sha256);

-- migration 14

-- Where something was measured: one row for each node, batch job, restart, GPU and setting of it. `key` is the hash of the other
-- columns.
CREATE TABLE origins (
	id INTEGER PRIMARY KEY,
	key TEXT NOT NULL UNIQUE CHECK (length(key) = 64),
	node TEXT NOT NULL,
	job TEXT NOT NULL,
	element INTEGER,
	restarts INTEGER NOT NULL,
	gpu TEXT NOT NULL,
	gpu_id TEXT NOT NULL,
	driver TEXT NOT NULL,
	clocks TEXT NOT NULL
);

-- Every measurement of a variant by a run. `key` is the hash of what was measured and where, so that the same measurement is one
-- row; pm__measurements_fill_keys gives keys to rows made before. `counts` marks the one that `results` shows, by the rule of
-- dataset/store/measurements.h. The long column comes last.
CREATE TABLE measurements (
	run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
	task INTEGER NOT NULL,
	ordinal INTEGER NOT NULL,
	key TEXT NOT NULL,
	counts INTEGER NOT NULL CHECK (counts IN (0, 1)),
	verdict TEXT NOT NULL,
	stage TEXT NOT NULL,
	speedup REAL,
	rewrite INTEGER REFERENCES rewrites (id),
	origin INTEGER REFERENCES origins (id),
	at INTEGER,
	json TEXT NOT NULL,
	PRIMARY KEY (run, task, ordinal, key),
	FOREIGN KEY (task, ordinal) REFERENCES variants (task, ordinal) ON DELETE CASCADE
) WITHOUT ROWID;
INSERT INTO measurements SELECT run, task, ordinal, '', 1, verdict, stage, speedup, rewrite, NULL, NULL, json FROM results;
DROP TABLE results;
CREATE INDEX measurements_variant ON measurements (task, ordinal);
CREATE INDEX measurements_rewrite ON measurements (rewrite);
CREATE INDEX measurements_origin ON measurements (origin);
CREATE UNIQUE INDEX measurements_counts ON measurements (run, task, ordinal) WHERE counts = 1;
CREATE VIEW results AS
	SELECT run, task, ordinal, verdict, stage, speedup, json, rewrite FROM measurements WHERE counts = 1;

-- Every verdict on hidden shapes, likewise; runs.hidden and runs.hidden_json hold the one that counts.
CREATE TABLE hidden_measurements (
	run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
	key TEXT NOT NULL,
	verdict TEXT NOT NULL,
	json TEXT NOT NULL,
	origin INTEGER REFERENCES origins (id),
	at INTEGER,
	PRIMARY KEY (run, key)
) WITHOUT ROWID;
INSERT INTO hidden_measurements SELECT id, '', hidden, hidden_json, NULL, NULL FROM runs WHERE hidden <> '';
CREATE INDEX hidden_measurements_origin ON hidden_measurements (origin);
