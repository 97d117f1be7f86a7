#pragma once

#include "penstock/result.hpp"
#include "penstock/time.hpp"

#include <termios.h>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace penstock::app {

// The terminal of this process as a full screen: the alternate screen without a cursor, keys
// without echo. Everything is restored by the destructor, which also runs after a signal, and while
// the process is suspended.
//
// Thread-safety: none; one at a time. Blocks the signals that it reports.
class FullScreen {
 public:
  // Standard input and output. REQUIRES: both are terminals.
  [[nodiscard]] static Result<std::unique_ptr<FullScreen>> open();
  FullScreen(const FullScreen&) = delete;
  FullScreen& operator=(const FullScreen&) = delete;
  ~FullScreen();

  struct Size {
    std::size_t rows = 24;
    std::size_t columns = 80;
  };
  [[nodiscard]] static Size size();

  // Replaces the content of the screen.
  static void show(std::string_view text);

  enum class Kind : std::uint8_t { Timeout, Key, Redraw, Ended };
  struct Event {
    Kind kind = Kind::Timeout;
    char key = 0;    // of Key
    int signal = 0;  // of Ended: the signal, or 0 if the terminal was closed
  };
  // Waits for a key, a change of the size, or a signal that ends the process.
  [[nodiscard]] Event wait(Duration timeout);

 private:
  FullScreen(int signals, sigset_t old_signals, const termios& old_mode);

  void enter();
  void leave() const;
  [[nodiscard]] Event on_signal();

  int signals_;  // file descriptor
  sigset_t old_signals_;
  termios old_mode_;
};

}  // namespace penstock::app
