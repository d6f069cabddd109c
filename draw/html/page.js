// SPDX-License-Identifier: Apache-2.0
// page.js - what pages do in a browser, over what the HTML holds already: without it everything can be read.
"use strict";
