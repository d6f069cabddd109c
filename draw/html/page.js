// SPDX-License-Identifier: Apache-2.0
// page.js - what pages do in a browser, over what the HTML holds already: without it everything can be read.
//
// The state of a section is in the address: #SECTION;KEY=VALUE;..., so that a link leads to what is seen. Text is set
// with textContent alone: no text becomes HTML.
"use strict";

(function () {
	// ---- the address ----

	// {id: "b1", values: {category: "activation", ...}} of "#b1;category=activation".
	function readAddress() {
		const parts = location.hash.slice(1).split(";");
		const values = {};

		for (const part of parts.slice(1)) {
			const at = part.indexOf("=");

			if (at > 0) {
				try {
					values[part.slice(0, at)] = decodeURIComponent(part.slice(at + 1));
				} catch (ignored) {
					// A value that is not encoded well is as none.
				}
			}
		}
		return { id: parts[0], values };
	}

	let written = "";

	function writeAddress(id, values) {
		let text = "#" + id;

		for (const key of Object.keys(values).sort()) {
			if (values[key] !== "") {
				text += ";" + key + "=" + encodeURIComponent(values[key]);
			}
		}
		written = text;
		history.replaceState(null, "", text);
	}

	// ---- tables ----

	// What a cell sorts by: its number, or its text.
	function keyOf(row, column) {
		const cell = row.cells[column];

		if (!cell) {
			return "";
		}
		return cell.dataset.v === undefined ? cell.textContent : Number(cell.dataset.v);
	}

	// Numbers before texts ("-" stands for no number), in either direction.
	function compare(a, b, sign) {
		if (typeof a !== typeof b) {
			return typeof a === "number" ? -1 : 1;
		}
		if (typeof a === "number") {
			return sign * (a - b);
		}
		return sign * a.localeCompare(b, "en");
	}

	function sortTable(table, key, direction) {
		const heads = Array.from(table.tHead.rows[0].cells);
		const column = heads.findIndex((head) => head.dataset.key === key);
		const body = table.tBodies[0];

		for (const head of heads) {
			head.removeAttribute("aria-sort");
		}
		if (column < 0) {
			return;
		}
		heads[column].setAttribute("aria-sort", direction);
		Array.from(body.rows)
			.map((row) => ({ row, key: keyOf(row, column) }))
			.sort((a, b) => compare(a.key, b.key, direction === "ascending" ? 1 : -1))
			.forEach((item) => body.append(item.row));
	}

	// The first click on names goes up, on numbers down: what is best comes first.
	function nextDirection(head) {
		const now = head.getAttribute("aria-sort");

		if (now) {
			return now === "ascending" ? "descending" : "ascending";
		}
		return head.dataset.key === "name" || head.dataset.key === "category" ? "ascending" : "descending";
	}

	function searchTable(table, words, count) {
		const rows = Array.from(table.tBodies[0].rows);
		const wanted = words.toLowerCase().split(" ").filter(Boolean);
		let shown = 0;

		for (const row of rows) {
			const text = row.textContent.toLowerCase();

			row.hidden = !wanted.every((word) => text.includes(word));
			shown += row.hidden ? 0 : 1;
		}
		count.textContent = shown + " of " + rows.length;
	}

	// ---- a part of the page with a table and its filters ----

	class Part {
		constructor(id, root) {
			this.id = id;
			this.root = root;
			this.table = root.querySelector("table.sorts");
			this.filters = root.querySelector(".filters");
			this.count = this.filters.querySelector(".count");
			this.values = {};
			this.filters.hidden = false;
			this.filters.addEventListener("input", (event) => {
				this.values[event.target.dataset.filter] = event.target.value;
				this.changed();
			});
			this.table.tHead.addEventListener("click", (event) => {
				const head = event.target.closest("th[data-key]");

				if (head) {
					this.values.sort = head.dataset.key;
					this.values.order = nextDirection(head);
					this.changed();
				}
			});
		}

		changed() {
			this.show();
			writeAddress(this.id, this.written());
		}

		// What is not as at first.
		written() {
			return this.values;
		}

		take(values) {
			this.values = Object.assign({}, values);
			for (const field of this.filters.querySelectorAll("[data-filter]")) {
				const value = this.values[field.dataset.filter];

				if (value !== undefined) {
					field.value = value;
					this.values[field.dataset.filter] = field.value;
				}
			}
			this.show();
		}

		show() {
			searchTable(this.table, this.values.q || "", this.count);
			if (this.values.sort) {
				sortTable(this.table, this.values.sort,
					  this.values.order === "ascending" ? "ascending" : "descending");
			}
		}
	}

	// ---- a ranking ----

	const LEAST = -10;
	const FIRST = -5;

	function setNumber(row, key, value, digits) {
		const cell = row.querySelector('td[data-key="' + key + '"]');

		if (!cell) {
			return;
		}
		if (typeof value === "number") {
			cell.dataset.v = String(value);
			cell.textContent = value.toFixed(digits);
		} else {
			delete cell.dataset.v;
			cell.textContent = "-";
		}
	}

	function setGmean(row, key, figures) {
		const cell = row.querySelector('td[data-key="' + key + '"]');

		if (cell && typeof figures.gmean === "number") {
			cell.dataset.v = String(figures.gmean);
			cell.textContent = figures.gmean.toFixed(3) + " [" + figures.gmean_lo.toFixed(3) + ", " +
				figures.gmean_hi.toFixed(3) + "]";
		} else if (cell) {
			delete cell.dataset.v;
			cell.textContent = "-";
		}
	}

	class Ranking extends Part {
		constructor(root, board) {
			super(root.id, root);
			this.board = board;
			this.hover = null;
			this.output = this.filters.querySelector("output");
			for (const plot of root.querySelectorAll('figure[data-kind="es"] svg')) {
				plot.addEventListener("pointermove", (event) => {
					this.hover = this.levelAt(plot, event);
					this.showLevel();
				});
				plot.addEventListener("pointerleave", () => {
					this.hover = null;
					this.showLevel();
				});
				plot.addEventListener("click", (event) => {
					const level = this.levelAt(plot, event);

					if (level !== null) {
						this.values.t = String(level);
						this.filters.querySelector('[data-filter="t"]').value = level;
						this.changed();
					}
				});
			}
			this.show();
		}

		clock() {
			return this.values.clock || this.board.clock;
		}

		level() {
			return this.hover !== null ? this.hover : Number(this.values.t || FIRST);
		}

		// The level below the pointer; null beside the axis.
		levelAt(plot, event) {
			const box = plot.getBoundingClientRect();
			const x = (event.clientX - box.left) * plot.viewBox.baseVal.width / box.width;
			const d = plot.dataset;
			const share = (x - Number(d.x0)) / (Number(d.x1) - Number(d.x0));

			if (share < -0.02 || share > 1.02) {
				return null;
			}
			return Math.round(Number(d.lo) + share * (Number(d.hi) - Number(d.lo)));
		}

		// {system: {clock: figures}} of what the filters leave.
		figures() {
			const bench = this.board.bench;
			const category = this.values.category || null;
			const dtype = this.values.dtype || null;
			let found;

			if (!category && !dtype) {
				return bench.systems;
			}
			if (!dtype) {
				found = bench.categories.find((row) => row.category === category);
			} else {
				found = bench.groups.find((row) => row.category === category && row.dtype === dtype);
			}
			return found ? found.systems : {};
		}

		row(row, figures) {
			const of = figures[row.dataset.system] || {};
			const now = of[this.clock()] || {};
			const es = now.timed || now.right ? now.es : null;

			setNumber(row, "as", es ? now.as : null, 3);
			setNumber(row, "es", es ? es[this.level() - LEAST] : null, 3);
			for (const clock of ["replay", "cold", "wall", "modelled"]) {
				setGmean(row, "gmean " + clock, of[clock] || {});
			}
			setNumber(row, "fast", now.fast_p ? now.fast_p[3] : null, 2);
			setNumber(row, "right", now.right, 0);
			setNumber(row, "changed", now.changed, 0);
			setNumber(row, "worst", now.worst, 3);
			setNumber(row, "roofline",
				  typeof now.roofline_share === "number" ? 100 * now.roofline_share : null, 1);
		}

		showLevel() {
			const level = this.level();
			const figures = this.figures();

			this.output.textContent = String(level);
			this.table.querySelector('th[data-key="es"] button').textContent = "ES(" + level + ")";
			for (const row of this.table.tBodies[0].rows) {
				const now = (figures[row.dataset.system] || {})[this.clock()];

				setNumber(row, "es", now && now.es && (now.timed || now.right) ?
					now.es[level - LEAST] : null, 3);
			}
			for (const plot of this.root.querySelectorAll('figure[data-kind="es"] svg')) {
				const d = plot.dataset;
				const share = (level - Number(d.lo)) / (Number(d.hi) - Number(d.lo));
				const x = String(Number(d.x0) + share * (Number(d.x1) - Number(d.x0)));

				plot.querySelector(".pin").setAttribute("x1", x);
				plot.querySelector(".pin").setAttribute("x2", x);
			}
		}

		show() {
			const figures = this.figures();

			for (const row of this.table.tBodies[0].rows) {
				this.row(row, figures);
			}
			for (const item of this.root.querySelectorAll("[data-show]")) {
				item.hidden = item.dataset.show !== this.clock();
			}
			this.showLevel();
			super.show();
		}
	}

	// ---- drawings ----

	const SMALLEST = 0.05;
	const LARGEST = 8;
	const STEP = 1.25;
	const DRAG = 4; // pixels that a press may move and still be a click

	// A drawing in its frame: the frame scrolls, which is how it is moved, and the drawing's size is the zoom.
	class Drawing {
		constructor(frame, svg) {
			this.frame = frame;
			this.svg = svg;
			this.width = svg.width.baseVal.value;
			this.height = svg.height.baseVal.value;
			this.zoom = 1;
			this.addButtons();
			frame.classList.add("zooms");
			frame.addEventListener("keydown", (event) => this.key(event));
			frame.addEventListener("wheel", (event) => {
				if (event.ctrlKey) {
					event.preventDefault();
					this.set(this.zoom * Math.exp(-event.deltaY / 300), event);
				}
			}, { passive: false });
			this.takeDrags();
			this.takePinches();
		}

		addButtons() {
			const bar = document.createElement("div");

			bar.className = "zoom";
			bar.setAttribute("role", "group");
			bar.setAttribute("aria-label", "Size of the drawing");
			for (const [text, what, act] of [
				["+", "larger (key +)", () => this.set(this.zoom * STEP)],
				["\u2212", "smaller (key -)", () => this.set(this.zoom / STEP)],
				["1:1", "as it is (key 0)", () => this.set(1)],
				["fit", "all of it in the frame", () => this.fit()],
			]) {
				const button = document.createElement("button");

				button.type = "button";
				button.textContent = text;
				button.title = what;
				button.setAttribute("aria-label", text + " " + what);
				button.addEventListener("click", act);
				bar.append(button);
			}
			this.output = document.createElement("output");
			this.output.textContent = "100 %";
			bar.append(this.output);
			this.frame.before(bar);
		}

		resize(zoom) {
			this.zoom = Math.min(LARGEST, Math.max(SMALLEST, zoom));
			this.svg.setAttribute("width", String(this.width * this.zoom));
			this.svg.setAttribute("height", String(this.height * this.zoom));
			this.output.textContent = Math.round(100 * this.zoom) + " %";
		}

		// The point of the drawing below `at` stays where it is: of a pointer, or the middle of the frame.
		set(zoom, at) {
			const frame = this.frame.getBoundingClientRect();
			const x = at ? at.clientX : frame.left + this.frame.clientWidth / 2;
			const y = at ? at.clientY : frame.top + this.frame.clientHeight / 2;
			const old = this.svg.getBoundingClientRect();

			this.resize(zoom);
			const now = this.svg.getBoundingClientRect();

			this.frame.scrollLeft += now.left + (x - old.left) / old.width * now.width - x;
			this.frame.scrollTop += now.top + (y - old.top) / old.height * now.height - y;
		}

		// The frame is as large as it can be while the drawing is, too.
		fit() {
			this.resize(LARGEST);
			const zoom = Math.min(this.frame.clientWidth / this.width, this.frame.clientHeight / this.height);

			this.resize(Math.min(1, zoom));
		}

		// Arrows scroll the frame without help.
		key(event) {
			const zoom = { "+": this.zoom * STEP, "=": this.zoom * STEP, "-": this.zoom / STEP, "0": 1 }[event.key];

			if (zoom && !event.ctrlKey && !event.metaKey && !event.altKey) {
				event.preventDefault();
				this.set(zoom);
			}
		}

		// With a mouse. A finger scrolls the frame without help.
		takeDrags() {
			const frame = this.frame;
			let from = null, moved = false;

			frame.addEventListener("pointerdown", (event) => {
				moved = false;
				if (event.pointerType === "mouse" && event.button === 0 && this.svg.contains(event.target)) {
					from = { x: event.clientX + frame.scrollLeft, y: event.clientY + frame.scrollTop };
				}
			});
			frame.addEventListener("pointermove", (event) => {
				if (!from) {
					return;
				}
				const x = from.x - event.clientX, y = from.y - event.clientY;

				if (!moved && Math.hypot(x - frame.scrollLeft, y - frame.scrollTop) > DRAG) {
					moved = true;
					frame.setPointerCapture(event.pointerId);
					frame.classList.add("drags");
					getSelection().removeAllRanges();
				}
				if (moved) {
					frame.scrollTo({ left: x, top: y, behavior: "instant" });
				}
			});
			for (const end of ["pointerup", "pointercancel"]) {
				frame.addEventListener(end, () => {
					from = null;
					frame.classList.remove("drags");
				});
			}
			frame.addEventListener("dragstart", (event) => event.preventDefault());
			frame.addEventListener("click", (event) => {
				if (moved) {
					event.preventDefault();
				}
				moved = false;
			}, { capture: true });
		}

		takePinches() {
			let apart = 0;
			const measure = (touches) => Math.hypot(touches[0].clientX - touches[1].clientX,
				touches[0].clientY - touches[1].clientY);
			const take = (event) => {
				const touches = event.touches;

				if (touches.length !== 2) {
					return;
				}
				event.preventDefault();
				if (event.type === "touchmove" && apart > 0) {
					this.set(this.zoom * measure(touches) / apart, {
						clientX: (touches[0].clientX + touches[1].clientX) / 2,
						clientY: (touches[0].clientY + touches[1].clientY) / 2,
					});
				}
				apart = measure(touches);
			};

			this.frame.addEventListener("touchstart", take, { passive: false });
			this.frame.addEventListener("touchmove", take, { passive: false });
		}
	}

	// ---- the page ----

	const parts = [];
	const dataBlock = document.getElementById("data");
	const data = dataBlock ? JSON.parse(dataBlock.textContent) : { boards: [] };

	for (const root of document.querySelectorAll(".board")) {
		parts.push(new Ranking(root, data.boards[Number(root.dataset.board)]));
	}
	for (const root of document.querySelectorAll(".list")) {
		parts.push(new Part(root.id.replace("-list", ""), root));
	}
	for (const svg of document.querySelectorAll("div.canvas > svg")) {
		new Drawing(svg.parentElement, svg);
	}

	// A link opens what it leads to, and lets it be seen.
	function follow() {
		const address = readAddress();
		const target = address.id ? document.getElementById(address.id) : null;

		if (location.hash === written && written !== "") {
			return;
		}
		for (const part of parts) {
			if (part.id === address.id) {
				part.take(address.values);
			}
		}
		if (target) {
			target.scrollIntoView();
		}
	}

	for (const part of parts) {
		if (!(part instanceof Ranking)) {
			part.show();
		}
	}
	window.addEventListener("hashchange", follow);
	follow();
	document.documentElement.dataset.ready = "1";
})();
