// Starts the modules of the tracker's page.

import * as doing from "./doing.js";
import { listen } from "./live.js";

doing.start({
  done: (answer, form) => {
    if (answer.ok) form.closest("details.change").open = false;
  },
});
listen("/tracker/stream");
