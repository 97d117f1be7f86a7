#pragma once

namespace penstock::app {

// Draws a progress bar on standard error if that is a terminal. At 1 the bar is removed.
void draw_progress(double share);

}  // namespace penstock::app
