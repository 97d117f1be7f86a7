#include "apps/penstock/terminal/full_screen.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <iostream>
#include <system_error>

namespace penstock::app {
namespace {

constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l";  // alternate screen, no cursor
constexpr std::string_view kLeave = "\x1b[0m\x1b[?25h\x1b[?1049l";
constexpr std::string_view kHome = "\x1b[H";
constexpr std::string_view kClearLine = "\x1b[K";
constexpr std::string_view kClearRest = "\x1b[J";

// Each either ends the process, suspends it, or changes the screen.
constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH};

Error terminal_error(const char* call) {
  return {ErrorCode::Unavailable,
          "the terminal: " + std::string(call) + ": " + std::generic_category().message(errno)};
}

}  // namespace

Result<std::unique_ptr<FullScreen>> FullScreen::open() {
  termios mode{};
  if (tcgetattr(STDIN_FILENO, &mode) != 0) return terminal_error("tcgetattr");
  sigset_t reported;
  sigset_t old;
  sigemptyset(&reported);
  for (const int signal : kSignals) sigaddset(&reported, signal);
  if (pthread_sigmask(SIG_BLOCK, &reported, &old) != 0) return terminal_error("pthread_sigmask");
  const int signals = signalfd(-1, &reported, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signals < 0) return terminal_error("signalfd");
  return std::unique_ptr<FullScreen>(new FullScreen(signals, old, mode));
}

FullScreen::FullScreen(int signals, sigset_t old_signals, const termios& old_mode)
    : signals_(signals), old_signals_(old_signals), old_mode_(old_mode) {
  enter();
}

FullScreen::~FullScreen() {
  leave();
  ::close(signals_);
  pthread_sigmask(SIG_SETMASK, &old_signals_, nullptr);
}

void FullScreen::enter() {
  termios mode = old_mode_;
  mode.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  mode.c_cc[VMIN] = 1;
  mode.c_cc[VTIME] = 0;
  tcsetattr(STDIN_FILENO, TCSANOW, &mode);
  std::cout << kEnter << std::flush;
}

void FullScreen::leave() const {
  std::cout << kLeave << std::flush;
  tcsetattr(STDIN_FILENO, TCSANOW, &old_mode_);
}

FullScreen::Size FullScreen::size() {
  winsize size{};
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): ioctl(2) has no other form
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) {
    return {};
  }
  return {.rows = size.ws_row, .columns = size.ws_col};
}

void FullScreen::show(std::string_view text) {
  // Overwrites line by line instead of clearing first, which would flicker.
  std::string shown(kHome);
  for (const char letter : text) {
    if (letter == '\n') shown += kClearLine;
    shown += letter;
  }
  std::cout << shown << kClearLine << kClearRest << std::flush;
}

FullScreen::Event FullScreen::wait(Duration timeout) {
  std::array<pollfd, 2> files{pollfd{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0},
                              pollfd{.fd = signals_, .events = POLLIN, .revents = 0}};
  const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(timeout).count();
  if (::poll(files.data(), files.size(), static_cast<int>(milliseconds)) <= 0) return {};
  if (files[1].revents != 0) return on_signal();
  char key = 0;
  if (::read(STDIN_FILENO, &key, 1) != 1) return {.kind = Kind::Ended};
  return {.kind = Kind::Key, .key = key};
}

FullScreen::Event FullScreen::on_signal() {
  signalfd_siginfo info{};
  if (::read(signals_, &info, sizeof info) != sizeof info) return {};
  const int signal = static_cast<int>(info.ssi_signo);
  if (signal == SIGTSTP) {
    leave();
    (void)raise(SIGSTOP);  // returns after SIGCONT
    enter();
    return {.kind = Kind::Redraw};
  }
  if (signal == SIGCONT || signal == SIGWINCH) return {.kind = Kind::Redraw};
  return {.kind = Kind::Ended, .signal = signal};
}

}  // namespace penstock::app
