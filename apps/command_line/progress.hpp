#pragma once

namespace penstock::app {

// Draws on standard error, if that is a terminal, how much of the work is done, from 0 to 1; at 1
// the drawing goes away.
void draw_progress(double share);

}  // namespace penstock::app
