#pragma once

// Everything: the library in one include.
#include "penstock/check.hpp"
#include "penstock/clock.hpp"
#include "penstock/counters.hpp"
#include "penstock/decimal.hpp"
#include "penstock/decision.hpp"
#include "penstock/limiter.hpp"
#include "penstock/limits.hpp"
#include "penstock/memory_options.hpp"
#include "penstock/quota.hpp"
#include "penstock/redis_options.hpp"
#include "penstock/result.hpp"
#include "penstock/shared_counters.hpp"
#include "penstock/shared_limiter.hpp"
#include "penstock/time.hpp"
#include "penstock/version.hpp"
